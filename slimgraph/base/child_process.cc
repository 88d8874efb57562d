#include "slimgraph/base/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "slimgraph/base/files.h"

namespace slimgraph {
namespace {

std::vector<std::string> EnvironmentWith(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    const bool replaced = std::any_of(
        variables.begin(), variables.end(),
        [&](const auto& variable) { return text.substr(0, text.find('=')) == variable.first; });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> PointersTo(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What happens between fork and exec.
class SpawnActions {
 public:
  explicit SpawnActions(const ProgramToStart& program) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawnattr_init(&attributes_);
    const auto open = [&](int fd, const std::string& path, int flags) {
      if (!path.empty()) ::posix_spawn_file_actions_addopen(&files_, fd, path.c_str(), flags, 0);
    };
    open(STDIN_FILENO, program.input, O_RDONLY);
    open(STDOUT_FILENO, program.output, O_WRONLY | O_APPEND);
    for (const auto& [ours, its] : program.files) {
      ::posix_spawn_file_actions_adddup2(&files_, ours, its);
    }
    if (program.close_from >= 0) {
      ::posix_spawn_file_actions_addclosefrom_np(&files_, program.close_from);
    }
    if (!program.folder.empty()) {
      ::posix_spawn_file_actions_addchdir_np(&files_, program.folder.c_str());
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    const int session = program.new_session ? POSIX_SPAWN_SETSID : 0;
    ::posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | session));
  }
  ~SpawnActions() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&files_);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// Becomes the program, in a child. Returns only if that fails. Does not allocate.
void Become(const ProgramToStart& program, char* const* words, char* const* environment) {
  const auto open = [](int fd, const std::string& path, int flags) {
    if (path.empty()) return true;
    const int opened = files::Open(path, flags);
    return opened >= 0 && (opened == fd || (::dup2(opened, fd) == fd && ::close(opened) == 0));
  };
  if (!open(STDIN_FILENO, program.input, O_RDONLY)) return;
  if (!open(STDOUT_FILENO, program.output, O_WRONLY | O_APPEND)) return;
  for (const auto& [ours, its] : program.files) {
    const bool kept = ours == its ? ::fcntl(its, F_SETFD, 0) == 0 : ::dup2(ours, its) == its;
    if (!kept) return;
  }
  // Until exec, so that the end that tells of a failure stays open.
  if (program.close_from >= 0) {
    ::close_range(static_cast<unsigned>(program.close_from), ~0U, CLOSE_RANGE_CLOEXEC);
  }
  if (!program.folder.empty() && ::chdir(program.folder.c_str()) != 0) return;
  if (program.new_session) ::setsid();
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(words[0], words, environment);
}

// posix_spawn() cannot ask for the signal at the starter's end before the program runs. The request
// outlives exec. Returns an error number.
int ForkAndBecome(const ProgramToStart& program, char* const* words, char* const* environment,
                  pid_t& process) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const pid_t starter = ::getpid();
  process = ::fork();
  if (process < 0) return errno;
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    errno = ESRCH;
    if (::getppid() == starter) Become(program, words, environment);
    const int failed = errno;
    static_cast<void>(::write(to.get(), &failed, sizeof failed));
    ::_exit(127);
  }
  to.Reset();
  int failed = 0;
  ssize_t bytes = 0;
  do {
    bytes = ::read(from.get(), &failed, sizeof failed);
  } while (bytes < 0 && errno == EINTR);
  if (bytes == 0) return 0;  // exec has closed the other end
  ::waitpid(process, nullptr, 0);
  return failed;
}

}  // namespace

Result<pid_t> StartProgram(const ProgramToStart& program) {
  std::vector<std::string> words = program.words;
  std::vector<std::string> environment = EnvironmentWith(program.variables);
  const std::vector<char*> word_pointers = PointersTo(words);
  const std::vector<char*> environment_pointers = PointersTo(environment);
  pid_t process = -1;
  int failed = 0;
  if (program.ends_with_starter) {
    failed = ForkAndBecome(program, word_pointers.data(), environment_pointers.data(), process);
  } else {
    const SpawnActions actions(program);
    failed = ::posix_spawnp(&process, words[0].c_str(), actions.files(), actions.attributes(),
                            word_pointers.data(), environment_pointers.data());
  }
  if (failed == 0) return process;
  return EnvironmentError("cannot start '{}': {}", words[0], std::strerror(failed));
}

bool HasEnded(pid_t child) {
  const pid_t reaped = ::waitpid(child, nullptr, WNOHANG);
  return reaped == child || (reaped < 0 && errno == ECHILD);
}

UniqueFd WatchProcess(pid_t process) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

}  // namespace slimgraph
