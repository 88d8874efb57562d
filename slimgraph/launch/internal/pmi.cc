#include "slimgraph/launch/internal/pmi.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "slimgraph/base/poller.h"
#include "slimgraph/base/sockets.h"

namespace slimgraph {
namespace {

std::optional<int> NumberFromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, failed] = std::from_chars(text, end, value);
  if (failed != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

std::string ValueOf(std::string_view line, std::string_view key) {
  const std::size_t start = line.find(key);
  if (start == std::string_view::npos) return "";
  const std::string_view value = line.substr(start + key.size());
  return std::string(value.substr(0, value.find(' ')));
}

constexpr std::string_view kKey = "slimgraph-hub";

}  // namespace

bool Pmi::Present() {
  return NumberFromEnvironment("PMI_FD") && NumberFromEnvironment("PMI_RANK") &&
         NumberFromEnvironment("PMI_SIZE");
}

Result<Pmi> Pmi::Open() {
  Pmi pmi;
  pmi.fd_ = *NumberFromEnvironment("PMI_FD");
  pmi.rank_ = static_cast<NodeId>(*NumberFromEnvironment("PMI_RANK"));
  pmi.size_ = static_cast<NodeId>(*NumberFromEnvironment("PMI_SIZE"));
  SLIM_TRY(pmi.Request("cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init"));
  return pmi;
}

Result<std::string> Pmi::ShareFromZero(std::string_view value, std::chrono::milliseconds limit) {
  SLIM_ASSIGN(const std::string space, Request("cmd=get_my_kvsname", "cmd=my_kvsname"));
  const std::string where = "kvsname=" + ValueOf(space, "kvsname=");
  if (rank_ == 0) {
    SLIM_TRY(
        Request(fmt::format("cmd=put {} key={} value={}", where, kKey, value), "cmd=put_result"));
  }
  SLIM_TRY(Request("cmd=barrier_in", "cmd=barrier_out", limit));
  SLIM_ASSIGN(const std::string got,
              Request(fmt::format("cmd=get {} key={}", where, kKey), "cmd=get_result"));
  return ValueOf(got, "value=");
}

void Pmi::Finalize() {
  if (fd_ >= 0) static_cast<void>(Request("cmd=finalize", "cmd=finalize_ack"));
  fd_ = -1;
}

void Pmi::Abort(int exit_code) {
  const std::string line = fmt::format("cmd=abort exitcode={}\n", exit_code);
  static_cast<void>(SendBytes(fd_, std::as_bytes(std::span(line))));
}

Result<std::string> Pmi::Request(std::string_view command, std::string_view expected,
                                 std::chrono::milliseconds limit) {
  const std::string line = std::string(command) + "\n";
  std::string answer;
  bool intact = SendBytes(fd_, std::as_bytes(std::span(line))) == static_cast<ssize_t>(line.size());
  if (intact && !AwaitReadable(fd_, limit)) {
    return EnvironmentError(
        "the job's launcher did not answer '{}' within {} s: not all of its {} nodes have started",
        command, std::chrono::duration<double>(limit).count(), size_);
  }
  while (intact && (answer.empty() || answer.back() != '\n')) {
    char next = 0;
    const ssize_t n = ::read(fd_, &next, 1);
    if (n == 1) {
      answer += next;
    } else {
      intact = n < 0 && errno == EINTR;
    }
  }
  if (!intact || !answer.starts_with(expected)) {
    return EnvironmentError(
        "the job's launcher did not answer '{}' as PMI-1 does; start with mpiexec.hydra, or with "
        "srun --mpi=pmi2",
        command);
  }
  answer.pop_back();
  return answer;
}

}  // namespace slimgraph
