#include "slimgraph/pool/internal/loading.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "slimgraph/base/child_process.h"
#include "slimgraph/base/files.h"
#include "slimgraph/base/passed_files.h"
#include "slimgraph/base/poller.h"

namespace slimgraph {
namespace {

constexpr int kLoadersFd = STDERR_FILENO + 1;  // the loader's end of the connection
constexpr std::string_view kMemories = "memories";
constexpr std::string_view kFacts = "facts ";
constexpr std::string_view kError = "error ";
constexpr int kNeededSeals = F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;

// Sends the memories, many at a time, and then the facts.
Status PassPart(const StandingPart& part) {
  std::vector<int> memories;
  for (const auto& memory : part.memories) {
    const int seals = ::fcntl(memory->fd(), F_GET_SEALS);
    if (seals < 0 || (seals & kNeededSeals) != kNeededSeals) SLIM_TRY(memory->Seal());
    memories.push_back(memory->fd());
    if (memories.size() < kMaxPassedFiles) continue;
    SLIM_TRY(PassFiles(kLoadersFd, kMemories, memories));
    memories.clear();
  }
  return PassFiles(kLoadersFd, std::string(kFacts) + part.facts, memories);
}

// The child that loads, which is killed and reaped if it has not ended. Once its part is here, it
// has nothing left to do.
class Loader {
 public:
  explicit Loader(pid_t process) : process_(process) {}
  ~Loader() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    static_cast<void>(AwaitEnd());
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // "signal 9 (Killed)" or "exit code 4"
  std::string AwaitEnd() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    if (WIFEXITED(status)) return fmt::format("with exit code {}", WEXITSTATUS(status));
    return fmt::format("by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }

 private:
  pid_t process_;
};

Result<std::uint64_t> CheckMemory(const UniqueFd& memory) {
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kNeededSeals) != kNeededSeals) {
    return EnvironmentError("the loader has passed memory that is not sealed");
  }
  struct stat info;
  if (files::StatOf(memory.get(), info) != 0) {
    return EnvironmentError("cannot look up the loaded memory: {}", std::strerror(errno));
  }
  return static_cast<std::uint64_t>(info.st_size);
}

tl::unexpected<Error> ErrorOf(std::string_view text) {
  int kind = 0;
  const char* const begin = text.data() + kError.size();
  const auto [end, failed] = std::from_chars(begin, text.data() + text.size(), kind);
  if (failed != std::errc() || kind < 1 || kind > 4) kind = 4;
  const std::string message(end, text.data() + text.size());
  return tl::unexpected<Error>(
      {static_cast<ErrorKind>(kind), message.starts_with(' ') ? message.substr(1) : message});
}

}  // namespace

Status ServeLoading(const PartToLoad& what, const PartLoader& load) {
  if (::fcntl(kLoadersFd, F_SETFD, FD_CLOEXEC) != 0) {
    return UsageError("{} is started by a pool's node, not by hand", kPoolLoaderCommand);
  }
  const auto part = load(what);
  const Status passed = part ? PassPart(*part) : Status(tl::unexpect, part.error());
  if (!passed) {
    const Error& error = passed.error();
    std::string text = fmt::format("{}{} {}", kError, error.exit_code(), error.message);
    text.resize(std::min(text.size(), kMaxPassedText));
    static_cast<void>(PassFiles(kLoadersFd, text, {}));
  }
  return passed;
}

namespace internal {

Result<std::string> StampOfFile(const std::string& path) {
  struct stat info;
  if (files::StatOf(path, info) != 0) return InputError("{}: {}", path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return InputError("{}: is not a file", path);
  return fmt::format("{} {} {}.{:09}", info.st_size, info.st_ino, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

Result<LoadedPart> RunLoader(const PartToLoad& what, int client) {
  SLIM_ASSIGN(auto ends, MakeLocalConnection());
  ProgramToStart program{.words = {"/proc/self/exe", kPoolLoaderCommand, what.file, what.shown,
                                   fmt::format("{}", what.node), fmt::format("{}", what.nodes),
                                   what.view}};
  program.files.emplace_back(ends.second.get(), kLoadersFd);
  program.close_from = kLoadersFd + 1;
  SLIM_ASSIGN(const pid_t process, StartProgram(program));
  Loader loader(process);
  ends.second.Reset();  // so that the loader's end is noticed
  LoadedPart part;
  while (true) {
    std::array<pollfd, 2> waits{{{ends.first.get(), POLLIN, 0}, {client, POLLIN, 0}}};
    Poll(waits, kUntilWoken);
    if (waits[1].revents != 0) return EnvironmentError("the client has left");
    if (waits[0].revents == 0) continue;
    SLIM_ASSIGN(auto message, ReceiveFiles(ends.first.get()));
    if (!message) {
      return EnvironmentError("the process that loaded {} was ended {}", what.shown,
                              loader.AwaitEnd());
    }
    if (message->text.starts_with(kError)) return ErrorOf(message->text);
    for (UniqueFd& memory : message->files) {
      SLIM_ASSIGN(const std::uint64_t bytes, CheckMemory(memory));
      part.bytes += bytes;
      part.memories.push_back(std::move(memory));
    }
    if (!message->text.starts_with(kFacts)) continue;
    part.facts = message->text.substr(kFacts.size());
    return part;
  }
}

}  // namespace internal
}  // namespace slimgraph
