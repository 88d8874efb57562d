#include "slimgraph/launch/local_job.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>

#include "slimgraph/base/clock.h"
#include "slimgraph/launch/internal/launcher_link.h"
#include "slimgraph/launch/node_limits.h"

namespace slimgraph {
namespace {

constexpr const char* kMpiexec = "mpiexec.hydra";
// From the first node that fails until what is left is killed.
constexpr std::uint64_t kGraceNs = 1'000'000'000;
constexpr std::size_t kMaxKeptWords = 4096;

// SIGINT, SIGTERM and SIGCHLD by descriptor instead of by handler.
class SignalQueue {
 public:
  SignalQueue() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    fd_.Reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~SignalQueue() { Restore(); }
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  int fd() const { return fd_.get(); }
  std::optional<int> Next() const {
    signalfd_siginfo info;
    if (::read(fd(), &info, sizeof info) != sizeof info) return std::nullopt;
    return static_cast<int>(info.ssi_signo);
  }
  void Restore() const { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

class LocalJob {
 public:
  explicit LocalJob(OnDeath on_death) : on_death_(on_death) {}
  Status Start(NodeId nodes, const std::vector<std::string>& arguments);
  int Supervise();

 private:
  [[noreturn]] void BecomeMpiexec(const std::vector<std::string>& command, int words) const;
  void AcceptNode();
  void HearNodes();
  void Hear(LauncherSocket::Node& node);
  void HearSignal(int signal);
  void HearMpiexec();
  void Explain(std::string_view line);
  bool GoesOn() const;
  bool ReapChildren();
  void ReapTheLast();
  void StartEnding(int exit_code);
  void KillEverything();

  SignalQueue signals_;
  std::optional<LauncherSocket> socket_;
  std::deque<LauncherSocket::Node> nodes_;
  UniqueFd heard_nodes_;  // an epoll of their sockets, which keeps the order of events
  pid_t mpiexec_ = -1;
  bool mpiexec_running_ = false;
  int mpiexec_status_ = 0;
  UniqueFd words_;  // what mpiexec itself says, shown only when nobody else explains an end
  std::string kept_words_;
  const OnDeath on_death_;
  std::optional<int> exit_code_;        // the first that is not 0
  bool hub_is_well_ = false;            // node 0 has ended with 0
  std::optional<NodeId> first_silent_;  // went without a word
  bool explained_ = false;              // a person has been told why
  std::optional<std::uint64_t> kill_at_ns_;
};

Status LocalJob::Start(NodeId nodes, const std::vector<std::string>& arguments) {
  std::array<char, 4096> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) {
    return EnvironmentError("cannot find this program's file: {}", std::strerror(errno));
  }
  SLIM_ASSIGN(socket_, LauncherSocket::Listen());
  heard_nodes_.Reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!heard_nodes_) return EnvironmentError("cannot make an epoll: {}", std::strerror(errno));
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return EnvironmentError("cannot make a pipe: {}", std::strerror(errno));
  }
  words_.Reset(pipe[0]);
  const UniqueFd theirs(pipe[1]);
  std::vector<std::string> command{kMpiexec,    "-disable-auto-cleanup",
                                   "-launcher", "fork",
                                   "-hosts",    fmt::format("localhost:{}", nodes),
                                   "-n",        fmt::format("{}", nodes),
                                   self.data()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // Orphans come to us, not to a process 1 that may not care for them.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  mpiexec_ = ::fork();
  if (mpiexec_ < 0) return EnvironmentError("cannot start a process: {}", std::strerror(errno));
  if (mpiexec_ == 0) BecomeMpiexec(command, theirs.get());
  mpiexec_running_ = true;
  return {};
}

void LocalJob::BecomeMpiexec(const std::vector<std::string>& command, int words) const {
  // A group of its own: Ctrl-C reaches us alone, and we end the rest in order.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  signals_.Restore();
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(words, STDOUT_FILENO);
  ::dup2(words, STDERR_FILENO);
  ::setenv(kLauncherVariable, socket_->name().c_str(), 1);
  // UCX would catch a node's crash to print pages about it, and delay its death.
  ::setenv("UCX_HANDLE_ERRORS", "none", 0);
  // Threads that wait at the end of a parallel loop must not spin: nodes share the processors.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(kMpiexec, argv.data());
  const std::string line =
      fmt::format("cannot start {}: {}; apt-get install mpich\n", kMpiexec, std::strerror(errno));
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  ::_exit(static_cast<int>(ErrorKind::kEnvironment));
}

void LocalJob::StartEnding(int exit_code) {
  if (!exit_code_) exit_code_ = exit_code;
  if (!kill_at_ns_) kill_at_ns_ = NowNs() + kGraceNs;
}

void LocalJob::AcceptNode() {
  auto node = socket_->Accept();
  if (!node) return;
  nodes_.push_back(std::move(*node));
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &nodes_.back()}};
  ::epoll_ctl(heard_nodes_.get(), EPOLL_CTL_ADD, nodes_.back().socket.get(), &event);
}

// In the order in which they spoke or died, however late we are: where hydra kills all nodes
// because of one, that one is first.
void LocalJob::HearNodes() {
  epoll_event event{};
  while (::epoll_wait(heard_nodes_.get(), &event, 1, 0) == 1) {
    Hear(*static_cast<LauncherSocket::Node*>(event.data.ptr));
  }
}

void LocalJob::Hear(LauncherSocket::Node& node) {
  const auto exit = ReadExit(node.socket.get());
  node.socket.Reset();
  if (!exit) {
    // The hub will have noticed as well, and tells us more.
    if (on_death_ == OnDeath::kGoOn && node.number != 0) return;
    if (!first_silent_) first_silent_ = node.number;
    if (!kill_at_ns_) kill_at_ns_ = NowNs() + kGraceNs;
    return;
  }
  if (exit->exit_code != 0) StartEnding(exit->exit_code);
  if (exit->exit_code == 0 && node.number == 0) hub_is_well_ = true;
  // hydra kills the others when a signal has killed a node, the hub maybe before it can speak; what
  // is said of the hub's death then is no news.
  const bool of_the_hub = node.number != 0 && first_silent_;
  if (!explained_ && !of_the_hub) Explain(exit->line);
}

void LocalJob::Explain(std::string_view line) {
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  explained_ = !line.empty();
}

void LocalJob::HearSignal(int signal) {
  if (signal == SIGCHLD) {
    ReapChildren();
    return;
  }
  StartEnding(128 + signal);
  explained_ = true;  // whoever sent the signal knows
  for (LauncherSocket::Node& node : nodes_) node.socket.Reset();
  ::kill(-mpiexec_, SIGTERM);
}

// mpiexec, and what it has left to us; false when there is no child any more.
bool LocalJob::ReapChildren() {
  int status = 0;
  pid_t child = 0;
  while ((child = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (child != mpiexec_) continue;
    mpiexec_running_ = false;
    mpiexec_status_ = status;
  }
  return child == 0;
}

void LocalJob::ReapTheLast() {
  const std::uint64_t deadline_ns = NowNs() + kGraceNs;
  while (ReapChildren() && NowNs() < deadline_ns) ::usleep(2000);
}

void LocalJob::HearMpiexec() {
  std::array<char, 1024> chunk{};
  const ssize_t n = ::read(words_.get(), chunk.data(), chunk.size());
  if (n <= 0) return words_.Reset();
  const std::size_t room = kMaxKeptWords - kept_words_.size();
  kept_words_.append(chunk.data(), std::min(static_cast<std::size_t>(n), room));
}

// A node that still lives is a child of our mpiexec or was, so its number cannot be another's yet
// unless its socket has closed.
void LocalJob::KillEverything() {
  for (const LauncherSocket::Node& node : nodes_) {
    if (node.socket) ::kill(node.pid, SIGKILL);
  }
  ::kill(-mpiexec_, SIGKILL);
}

// Nodes that have left mpiexec may outlive it.
bool LocalJob::GoesOn() const {
  return on_death_ == OnDeath::kGoOn &&
         std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& node) { return node.socket.get() >= 0; });
}

int LocalJob::Supervise() {
  while (mpiexec_running_ || GoesOn()) {
    std::array<pollfd, 4> waits{{{signals_.fd(), POLLIN, 0},
                                 {socket_->fd(), POLLIN, 0},
                                 {words_.get(), POLLIN, 0},
                                 {heard_nodes_.get(), POLLIN, 0}}};
    ::poll(waits.data(), waits.size(), kill_at_ns_ ? 50 : -1);
    if (waits[2].revents != 0) HearMpiexec();
    HearNodes();
    if (waits[1].revents != 0) AcceptNode();
    while (const auto signal = signals_.Next()) HearSignal(*signal);
    if (kill_at_ns_ && NowNs() > *kill_at_ns_) KillEverything();
  }
  // All that nodes still had to say has been sent before they went.
  HearNodes();
  for (LauncherSocket::Node& node : nodes_) {
    if (node.socket) Hear(node);
  }
  KillEverything();
  ReapTheLast();
  const bool well = on_death_ == OnDeath::kGoOn
                        ? hub_is_well_
                        : WIFEXITED(mpiexec_status_) && WEXITSTATUS(mpiexec_status_) == 0;
  if (well && !exit_code_) return 0;
  if (!explained_ && first_silent_) {
    Explain(fmt::format("slimgraph: node {}: {}\n", *first_silent_, CauseOfDeath(*first_silent_)));
  } else if (!explained_ && nodes_.empty()) {
    while (words_) HearMpiexec();
    Explain(fmt::format("slimgraph: {} failed: {}\n", kMpiexec, kept_words_));
  }
  return exit_code_.value_or(static_cast<int>(ErrorKind::kEnvironment));
}

}  // namespace

void LeaveMpiexec() {
  if (std::getenv(kLauncherVariable) == nullptr) return;
  const pid_t node = ::fork();
  if (node > 0) {
    int status = 0;
    while (::waitpid(node, &status, 0) < 0 && errno == EINTR) {
    }
    ::_exit(0);
  }
  if (node == 0) ::setsid();
}

Result<int> RunLocalJob(NodeId nodes, const std::vector<std::string>& arguments, OnDeath on_death) {
  LocalJob job(on_death);
  SLIM_TRY(job.Start(nodes, arguments));
  return job.Supervise();
}

}  // namespace slimgraph
