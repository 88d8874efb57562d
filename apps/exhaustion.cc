#include "apps/exhaustion.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "slimgraph/launch/last_line.h"

namespace slimgraph {
namespace {

// Freed before the error message is built, so that there is memory for it.
constexpr std::size_t kReserveBytes = 256 << 10;
constexpr unsigned kReportLimitS = 10;

std::atomic<Job*> job_of_process{nullptr};
std::atomic<char*> reserve{nullptr};
std::terminate_handler previous_handler = nullptr;

// The error that an uncaught exception means for the user; nullopt if only a bug throws it.
std::optional<Error> ErrorOfUncaught() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    return Error{ErrorKind::kEnvironment,
                 "out of memory: ask for less at a time, or for more nodes (--nodes)"};
  } catch (const std::length_error& beyond) {
    return Error{
        ErrorKind::kEnvironment,
        fmt::format("out of memory: the request is larger than any memory ({})", beyond.what())};
  } catch (const std::system_error& refused) {
    return Error{ErrorKind::kEnvironment,
                 fmt::format("the system refuses a thread or a lock: {}", refused.what())};
  } catch (...) {
  }
  return std::nullopt;
}

[[noreturn]] void EndProcess() {
  delete[] reserve.exchange(nullptr);
  const std::optional<Error> error = ErrorOfUncaught();
  if (!error) {
    previous_handler();
    std::abort();
  }
  Job* const job = job_of_process;
  if (job == nullptr) {
    WriteLastLine(error->exit_code(), fmt::format("slimgraph: {}\n", error->message));
    ::_exit(error->exit_code());
  }
  // This thread may hold a lock that Fail() needs. The alarm then ends the process silently.
  ::alarm(kReportLimitS);
  job->Fail(*error);
  while (true) ::pause();
}

}  // namespace

void EndProcessWhenExhausted() {
  reserve = new char[kReserveBytes];
  previous_handler = std::set_terminate(EndProcess);
}

NodeScope::NodeScope(Job& job) { job_of_process = &job; }
NodeScope::~NodeScope() { job_of_process = nullptr; }

}  // namespace slimgraph
