#include "slimgraph/launch/local_job.h"

#include <fcntl.h>
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
#include <list>
#include <optional>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/launch/internal/launcher_link.h"
#include "slimgraph/launch/internal/open_files.h"
#include "slimgraph/launch/last_line.h"
#include "slimgraph/launch/node_limits.h"

namespace slimgraph {
namespace {

constexpr const char* kMpiexec = "mpiexec.hydra";
constexpr std::chrono::nanoseconds kPollAtTimes = std::chrono::milliseconds(50);
// Another thread of this process may have taken the signal that mpiexec has ended, so check anyway.
constexpr std::chrono::nanoseconds kPollForEnd = std::chrono::seconds(1);
// The time from the first failure of a node until the remaining processes are killed.
constexpr std::uint64_t kGraceNs = 1'000'000'000;
constexpr std::size_t kMaxKeptOutput = 4096;
constexpr std::size_t kMaxNewcomers = kMaxNodes;

// The cause is in mpiexec's first line; the others are consequences, file names and banners.
std::string FirstLineOf(std::string_view output) {
  const std::size_t begin = std::min(output.find_first_not_of("= \n|"), output.size());
  output.remove_prefix(begin);
  const std::string_view line = output.substr(0, output.find('\n'));
  return line.empty() ? fmt::format("{} ended without a message", kMpiexec) : std::string(line);
}

// Receives SIGINT, SIGTERM, SIGHUP and SIGCHLD through a descriptor instead of a handler.
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
  [[noreturn]] void BecomeMpiexec(const std::vector<std::string>& command, int output) const;
  void AcceptNodes();
  void DropStrangers();
  void HandleNodes();
  void HandleNode(LauncherSocket::Node& node);
  void HandleSignal(int signal);
  void ReadMpiexecOutput();
  void Explain(int exit_code, const std::string& line);
  bool NodesOutliveMpiexec() const;
  bool ReapChildren();
  void ReapTheLast();
  void StartEnding(int exit_code);
  void KillEverything();

  SignalQueue signals_;
  std::optional<LauncherSocket> socket_;
  std::list<LauncherSocket::Node>
      newcomers_;  // have connected, but have not sent their node number yet
  std::list<LauncherSocket::Node> nodes_;
  std::optional<Poller> node_poller_;  // watches the sockets of both lists; keeps the order of
                                       // events
  pid_t mpiexec_ = -1;
  bool mpiexec_running_ = false;
  int mpiexec_status_ = 0;
  UniqueFd mpiexec_output_;  // what mpiexec itself prints, shown only if no node explains the end
  std::string kept_output_;
  const OnDeath on_death_;
  std::optional<int> exit_code_;            // the first one that is not 0
  bool hub_succeeded_ = false;              // node 0 has ended with exit code 0
  std::optional<NodeId> first_unreported_;  // the first node that ended without a report
  bool explained_ = false;                  // the user has been told why the job ended
  std::optional<std::uint64_t> kill_at_ns_;
};

Status LocalJob::Start(NodeId nodes, const std::vector<std::string>& arguments) {
  std::array<char, 4096> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) {
    return EnvironmentError("cannot find this program's file: {}", std::strerror(errno));
  }
  SLIM_ASSIGN(socket_, LauncherSocket::Listen());
  SLIM_ASSIGN(node_poller_, Poller::Make());
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return EnvironmentError("cannot make a pipe: {}", std::strerror(errno));
  }
  mpiexec_output_.Reset(pipe[0]);
  const UniqueFd theirs(pipe[1]);
  std::vector<std::string> command{kMpiexec,    "-disable-auto-cleanup",
                                   "-launcher", "fork",
                                   "-hosts",    fmt::format("localhost:{}", nodes),
                                   "-n",        fmt::format("{}", nodes),
                                   self.data()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // This process becomes the reaper of orphans, because process 1 may not reap them.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  mpiexec_ = ::fork();
  if (mpiexec_ < 0) return EnvironmentError("cannot start a process: {}", std::strerror(errno));
  if (mpiexec_ == 0) BecomeMpiexec(command, theirs.get());
  mpiexec_running_ = true;
  return {};
}

void LocalJob::BecomeMpiexec(const std::vector<std::string>& command, int output) const {
  // A process group of its own: Ctrl-C then signals us alone, and we end the nodes in order.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  signals_.Restore();
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::setenv(kLauncherVariable, socket_->name().c_str(), 1);
  // UCX would catch a node's crash and print a long report, which delays the death.
  ::setenv("UCX_HANDLE_ERRORS", "none", 0);
  // Threads that wait at the end of a parallel loop must not spin, because nodes share the
  // processors.
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

void LocalJob::AcceptNodes() {
  while (auto node = socket_->Accept()) {
    if (newcomers_.size() == kMaxNewcomers) newcomers_.pop_front();
    newcomers_.push_back(std::move(*node));
    LauncherSocket::Node& newcomer = newcomers_.back();
    if (!node_poller_->Add(newcomer.socket.get(), &newcomer, EPOLLIN)) newcomers_.pop_back();
  }
}

// Drops processes of this user that have connected but are not nodes.
void LocalJob::DropStrangers() {
  const std::uint64_t now = NowNs();
  std::erase_if(newcomers_, [&](const auto& one) { return !one.socket || now >= one.deadline_ns; });
}

// Handles events in the order in which they happened, even if we are late. When one node's death
// makes hydra kill all nodes, that node's event comes first.
void LocalJob::HandleNodes() {
  for (auto ready = node_poller_->Ready(); !ready.empty(); ready = node_poller_->Ready()) {
    for (const epoll_event& event : ready)
      HandleNode(*static_cast<LauncherSocket::Node*>(event.data.ptr));
  }
}

void LocalJob::HandleNode(LauncherSocket::Node& node) {
  if (!node.number) {
    if (!LauncherSocket::Introduce(node)) return node.socket.Reset();
    const auto self = std::find_if(newcomers_.begin(), newcomers_.end(),
                                   [&](const auto& one) { return &one == &node; });
    return nodes_.splice(nodes_.end(), newcomers_, self);
  }
  const auto exit = ReadExit(node.socket.get());
  node.socket.Reset();
  if (!exit) {
    // The hub notices the death as well, and reports more about it.
    if (on_death_ == OnDeath::kGoOn && node.number != 0) return;
    if (!first_unreported_) first_unreported_ = *node.number;
    if (!kill_at_ns_) kill_at_ns_ = NowNs() + kGraceNs;
    return;
  }
  if (exit->exit_code != 0) StartEnding(exit->exit_code);
  if (exit->exit_code == 0 && node.number == 0) hub_succeeded_ = true;
  // When a signal has killed a node, hydra kills the others, perhaps the hub before it can report.
  // Then another node's report blames the hub's death, which is only a consequence. It is not
  // printed.
  const bool of_the_hub = node.number != 0 && first_unreported_;
  if (!explained_ && !of_the_hub) Explain(exit->exit_code, exit->line);
}

void LocalJob::Explain(int exit_code, const std::string& line) {
  WriteLastLine(exit_code, line);
  explained_ = !line.empty();
}

void LocalJob::HandleSignal(int signal) {
  if (signal == SIGCHLD) {
    ReapChildren();
    return;
  }
  StartEnding(128 + signal);
  explained_ = true;  // the sender of the signal knows why
  for (LauncherSocket::Node& node : nodes_) node.socket.Reset();
  ::kill(-mpiexec_, SIGTERM);
}

// Reaps mpiexec and orphans that we inherited; returns false if no child is left.
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
  while (ReapChildren() && NowNs() < deadline_ns) SleepFor(std::chrono::milliseconds(2));
}

void LocalJob::ReadMpiexecOutput() {
  std::array<char, 1024> chunk{};
  const ssize_t n = ::read(mpiexec_output_.get(), chunk.data(), chunk.size());
  if (n <= 0) return mpiexec_output_.Reset();
  const std::size_t room = kMaxKeptOutput - kept_output_.size();
  kept_output_.append(chunk.data(), std::min(static_cast<std::size_t>(n), room));
}

// A node whose socket is open still lives, or is not reaped yet, so its pid cannot have been
// reused.
void LocalJob::KillEverything() {
  for (const LauncherSocket::Node& node : nodes_) {
    if (node.socket) ::kill(node.pid, SIGKILL);
  }
  ::kill(-mpiexec_, SIGKILL);
}

// Nodes that have left mpiexec may outlive it.
bool LocalJob::NodesOutliveMpiexec() const {
  return on_death_ == OnDeath::kGoOn &&
         std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& node) { return node.socket.get() >= 0; });
}

int LocalJob::Supervise() {
  while (mpiexec_running_ || NodesOutliveMpiexec()) {
    std::array<pollfd, 4> waits{{{signals_.fd(), POLLIN, 0},
                                 {socket_->fd(), POLLIN, 0},
                                 {mpiexec_output_.get(), POLLIN, 0},
                                 {node_poller_->fd(), POLLIN, 0}}};
    const bool timed = kill_at_ns_ || !newcomers_.empty();
    Poll(waits, timed ? kPollAtTimes : kPollForEnd);
    ReapChildren();
    if (waits[2].revents != 0) ReadMpiexecOutput();
    HandleNodes();
    DropStrangers();
    if (waits[1].revents != 0) AcceptNodes();
    while (const auto signal = signals_.Next()) HandleSignal(*signal);
    if (kill_at_ns_ && NowNs() > *kill_at_ns_) KillEverything();
  }
  // Nodes send their reports before they end, so all reports have arrived by now.
  HandleNodes();
  for (LauncherSocket::Node& node : nodes_) {
    if (node.socket) HandleNode(node);
  }
  KillEverything();
  ReapTheLast();
  const bool well = on_death_ == OnDeath::kGoOn
                        ? hub_succeeded_
                        : WIFEXITED(mpiexec_status_) && WEXITSTATUS(mpiexec_status_) == 0;
  if (well && !exit_code_) return 0;
  const int exit_code = exit_code_.value_or(static_cast<int>(ErrorKind::kEnvironment));
  if (!explained_ && first_unreported_) {
    Explain(exit_code, fmt::format("slimgraph: node {}: {}\n", *first_unreported_,
                                   CauseOfDeath(*first_unreported_)));
  } else if (!explained_ && nodes_.empty()) {
    while (mpiexec_output_) ReadMpiexecOutput();
    Explain(exit_code,
            fmt::format("slimgraph: no node could start: {}\n", FirstLineOf(kept_output_)));
  }
  return exit_code;
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
  SLIM_TRY(AllowOpenFiles(nodes));
  LocalJob job(on_death);
  SLIM_TRY(job.Start(nodes, arguments));
  return job.Supervise();
}

}  // namespace slimgraph
