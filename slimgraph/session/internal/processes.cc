#include "slimgraph/session/internal/processes.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/session/memory_node.h"

namespace slimgraph::internal {
namespace {

constexpr std::uint64_t kReapNs = 3'000'000'000;
std::atomic<bool> is_node{false};  // of a session that a launcher has started

// A variable of the same name is replaced.
std::vector<std::string> EnvironmentWith(const std::string& name, const std::string& value) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    if (!std::string_view(*one).starts_with(name + "=")) all.emplace_back(*one);
  }
  all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Reaps a child that has ended. If the program ignores SIGCHLD or reaps all children itself, an
// ended child is not known any more.
bool HasEnded(pid_t process) {
  const pid_t reaped = ::waitpid(process, nullptr, WNOHANG);
  return reaped == process || (reaped < 0 && errno == ECHILD);
}

}  // namespace

std::string Place::ToText() const {
  return fmt::format("{} {} {} {} {} {} {}", node, nodes, compute, hub, secret, listener, command);
}

JoinConfig Place::Config() const {
  JoinConfig config{.self = node, .nodes = nodes};
  if (node == 0) {
    ::fcntl(listener, F_SETFD, FD_CLOEXEC);
    config.listener.Reset(listener);
  }
  config.hub_address = hub;
  config.secret = secret;
  return config;
}

Status BecomeNodeOnce() {
  if (!is_node.exchange(true)) return {};
  return UsageError(
      "this process has already been a node of a session: under a launcher, a program opens one "
      "session");
}

Result<std::optional<Place>> TakePlace() {
  if (is_node) SLIM_TRY(BecomeNodeOnce());
  const char* const set = std::getenv(kJoinVariable);
  if (set == nullptr) return std::nullopt;
  const std::string text = set;
  ::unsetenv(kJoinVariable);
  const auto words = Split(text, ' ');
  constexpr std::size_t kWords = 7;
  const auto number = [&](std::size_t i) { return std::atoi(std::string(words[i]).c_str()); };
  const auto in_range = [](int n) { return n >= 0 && n <= static_cast<int>(kMaxNodes); };
  if (words.size() < kWords || !in_range(number(0)) || !in_range(number(1)) ||
      !in_range(number(2)) || number(0) >= number(1)) {
    return UsageError("{} does not name a node: it is set by a session, not by hand",
                      kJoinVariable);
  }
  Place place{.node = static_cast<NodeId>(number(0)),
              .nodes = static_cast<NodeId>(number(1)),
              .compute = static_cast<NodeId>(number(2)),
              .hub = std::string(words[3]),
              .secret = std::string(words[4]),
              .listener = number(5)};
  SLIM_TRY(BecomeNodeOnce());
  // The command may have blanks.
  place.command = std::string(words[6].data(), text.data() + text.size());
  return place;
}

Result<pid_t> StartProgram(const std::vector<std::string>& words, const Place& place, bool quiet) {
  std::vector<std::string> copy = words;
  // Only processes of this user can read the environment.
  std::vector<std::string> environment = EnvironmentWith(kJoinVariable, place.ToText());
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  if (quiet) {
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    // The program's other files stay its own.
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  } else if (place.listener >= 0) {
    ::posix_spawn_file_actions_adddup2(&files, place.listener, place.listener);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t process = -1;
  const int failed = ::posix_spawnp(&process, words[0].c_str(), &files, &attributes,
                                    Pointers(copy).data(), Pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed == 0) return process;
  return EnvironmentError("cannot start '{}': {}", words[0], std::strerror(failed));
}

Status HelperProcesses::Start(const std::string& program, const Place& place) {
  program_ = program;
  const bool computes = place.node < place.compute;
  const auto process = StartProgram({program, computes ? kComputeNodeCommand : kMemoryNodeCommand},
                                    place, /*quiet=*/true);
  if (!process) {
    return EnvironmentError(
        "{}, which the session's other nodes run; install SlimGraph into a folder of PATH, or set "
        "SessionOptions.memory_node_program",
        process.error().message);
  }
  processes_.push_back(*process);
  return {};
}

Status HelperProcesses::CheckAllRun() {
  for (const pid_t process : processes_) {
    if (!HasEnded(process)) continue;
    std::erase(processes_, process);
    return EnvironmentError("a node ended before it joined: is '{}' this version's program?",
                            program_);
  }
  return {};
}

void HelperProcesses::Reap() {
  const std::uint64_t deadline_ns = NowNs() + kReapNs;
  while (std::erase_if(processes_, HasEnded), !processes_.empty() && NowNs() < deadline_ns) {
    SleepFor(std::chrono::milliseconds(1));
  }
  for (const pid_t process : processes_) {
    ::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  processes_.clear();
}

}  // namespace slimgraph::internal
