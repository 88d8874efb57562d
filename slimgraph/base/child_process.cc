#include "slimgraph/base/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

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

}  // namespace

Result<pid_t> StartProgram(const ProgramToStart& program) {
  std::vector<std::string> words = program.words;
  std::vector<std::string> environment = EnvironmentWith(program.variables);
  const SpawnActions actions(program);
  pid_t process = -1;
  const int failed =
      ::posix_spawnp(&process, words[0].c_str(), actions.files(), actions.attributes(),
                     PointersTo(words).data(), PointersTo(environment).data());
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
