#include "slimgraph/session/launcher.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/cluster/topology.h"
#include "slimgraph/launch/place.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kGraceNs = 1'000'000'000;
constexpr timespec kCheck = {.tv_sec = 0, .tv_nsec = 100'000'000};

class LaunchedPrograms {
 public:
  LaunchedPrograms() {
    ::sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&signals_, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~LaunchedPrograms() {
    for (const auto& [process, node] : running_) ::kill(process, SIGKILL);
    while (!running_.empty()) Reap(0);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  LaunchedPrograms(const LaunchedPrograms&) = delete;
  LaunchedPrograms& operator=(const LaunchedPrograms&) = delete;

  Status Start(const std::vector<std::string>& words, const Place& place) {
    SLIM_ASSIGN(const pid_t process,
                StartProgram(words, place, /*quiet=*/false, /*ends_with_starter=*/false));
    running_.emplace(process, place.node);
    return {};
  }

  int Supervise() {
    while (!running_.empty()) {
      const int signal = ::sigtimedwait(&signals_, nullptr, &kCheck);
      if (signal > 0 && signal != SIGCHLD) {
        EndWith(128 + signal);
        for (const auto& [process, node] : running_) ::kill(process, SIGTERM);
      }
      while (Reap(WNOHANG)) {
      }
      if (kill_at_ns_ == 0 || NowNs() < kill_at_ns_) continue;
      for (const auto& [process, node] : running_) ::kill(process, SIGKILL);
    }
    return exit_code_;
  }

 private:
  // Returns whether a process was reaped.
  bool Reap(int flags) {
    int status = 0;
    const pid_t process = ::waitpid(-1, &status, flags);
    if (process < 0 && errno == EINTR) return true;
    if (process <= 0) {
      if (process < 0) running_.clear();
      return false;
    }
    const auto found = running_.find(process);
    if (found == running_.end()) return true;
    const NodeId node = found->second;
    running_.erase(found);
    if (WIFEXITED(status)) {
      if (WEXITSTATUS(status) != 0) EndWith(WEXITSTATUS(status));
      return true;
    }
    if (exit_code_ == 0) {
      const std::string line = fmt::format("slimgraph: node {}: the program was ended by {}\n",
                                           node, ::strsignal(WTERMSIG(status)));
      static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
    }
    EndWith(128 + WTERMSIG(status));
    return true;
  }

  void EndWith(int exit_code) {
    if (exit_code_ == 0) exit_code_ = exit_code;
    if (kill_at_ns_ == 0) kill_at_ns_ = NowNs() + kGraceNs;
  }

  sigset_t signals_{};
  sigset_t before_{};
  std::map<pid_t, NodeId> running_;
  int exit_code_ = 0;
  std::uint64_t kill_at_ns_ = 0;  // 0: not yet
};

}  // namespace

Result<int> LaunchProgram(NodeId nodes, NodeId compute, const std::vector<std::string>& words) {
  SLIM_TRY(Topology::Make(nodes, compute));
  std::array<char, 4096> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) {
    return EnvironmentError("cannot find this program's file: {}", std::strerror(errno));
  }
  SLIM_ASSIGN(UniqueFd listener, ListenTcp("127.0.0.1"));
  Place place{.nodes = nodes, .compute = compute};
  place.hub = fmt::format("127.0.0.1:{}", LocalAddress(listener.get()).port());
  SLIM_ASSIGN(place.secret, NewSecret());
  LaunchedPrograms programs;
  for (NodeId node = 0; node < compute; ++node) {
    place.node = node;
    place.listener = node == 0 ? listener.get() : -1;
    place.command = node == 0 ? self.data() : "";
    SLIM_TRY(programs.Start(words, place));
    if (node == 0) listener.Reset();  // node 0 alone listens, so its end is noticed
  }
  return programs.Supervise();
}

}  // namespace slimgraph
