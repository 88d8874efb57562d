#include "slimgraph/session/internal/nodes.h"

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
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/launch/started_by.h"
#include "slimgraph/session/memory_node.h"

namespace slimgraph::internal {
namespace {

constexpr std::uint64_t kReapNs = 3'000'000'000;

// What a launcher says about the number of compute nodes; 0: nothing.
NodeId ComputeNodesFromEnvironment() {
  const char* const text = std::getenv(kComputeVariable);
  return text == nullptr ? 0 : static_cast<NodeId>(std::atoi(text));
}

template <std::size_t N>
Status Keep(char (&into)[N], const std::string& name) {
  SLIM_CHECK(name.size() < N, "{}", name);
  std::memcpy(into, name.c_str(), name.size() + 1);
  return {};
}

Status CheckOptions(const SessionOptions& options) {
  if (options.threads == 0) return UsageError("SessionOptions.threads is 0: give at least 1");
  if (options.transport == "mpi") {
    return UsageError("a session cannot use the transport mpi: give shm, tcp or verbs");
  }
  if (!options.transport.empty()) SLIM_TRY(CheckTransport(options.transport));
  return CheckNetwork(options.network);
}

// A variable of the same name is replaced.
std::vector<std::string> EnvironmentWith(const std::string& name, const std::string& value) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    if (!std::string_view(*one).starts_with(name + "=")) all.emplace_back(*one);
  }
  all.push_back(name + "=" + value);
  return all;
}

// Reaps a child that has ended. If the program ignores SIGCHLD or reaps all children itself, an
// ended child is not known any more.
bool HasEnded(pid_t process) {
  const pid_t reaped = ::waitpid(process, nullptr, WNOHANG);
  return reaped == process || (reaped < 0 && errno == ECHILD);
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Status MemoryNodeProcesses::Start(const std::string& program, NodeId node, NodeId nodes,
                                  const std::string& hub, const std::string& secret) {
  program_ = program;
  std::vector<std::string> words = {program, kMemoryNodeCommand};
  // Only processes of this user can read the environment.
  std::vector<std::string> environment =
      EnvironmentWith(kJoinVariable, fmt::format("{} {} {} {}", node, nodes, hub, secret));
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  // The program's other files stay its own.
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  pid_t process = -1;
  const int failed = ::posix_spawnp(&process, program.c_str(), &files, nullptr,
                                    Pointers(words).data(), Pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    return EnvironmentError(
        "cannot start the memory-node program '{}': {}; install SlimGraph into a folder of PATH, "
        "or set SessionOptions.memory_node_program",
        program, std::strerror(failed));
  }
  processes_.push_back(process);
  return {};
}

Status MemoryNodeProcesses::CheckAllRun() {
  for (const pid_t process : processes_) {
    if (!HasEnded(process)) continue;
    std::erase(processes_, process);
    return EnvironmentError("a memory node ended before it joined: is '{}' this version's program?",
                            program_);
  }
  return {};
}

void MemoryNodeProcesses::Reap() {
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

Result<std::shared_ptr<Nodes>> Nodes::Form(const SessionOptions& options) {
  std::shared_ptr<Nodes> nodes(new Nodes);
  const Status started = nodes->Start(options);
  if (!started) {
    nodes->failure_ = started.error();
    return tl::unexpected<Error>(started.error());
  }
  return nodes;
}

Status Nodes::Start(const SessionOptions& options) {
  SLIM_TRY(CheckOptions(options));
  const bool launched = StartedBy() != Starter::kNobody;
  SLIM_TRY(CheckLaunch());
  nodes_ = options.nodes != 0 ? options.nodes : launched ? StartedNodes() : 1;
  const NodeId said = launched ? ComputeNodesFromEnvironment() : 0;
  request_.compute = options.compute != 0 ? options.compute : said != 0 ? said : 1;
  SLIM_TRY(Topology::Make(nodes_, request_.compute));
  request_.threads = options.threads;
  request_.cache = options.cache;
  SLIM_TRY(Keep(request_.network, options.network));
  SLIM_TRY(launched ? JoinLaunched(options) : StartHere(options));
  SLIM_TRY(AgreeOnVersion(*job_, VersionOfCalls()));
  const std::string transport = job_->one_host() ? "shm" : "tcp";
  return Keep(request_.transport, options.transport.empty() ? transport : options.transport);
}

Status Nodes::StartHere(const SessionOptions& options) {
  if (request_.compute > 1) {
    return UsageError(
        "a session of {} compute nodes needs a launcher: slimgraph launch --nodes {} "
        "--compute {} PROGRAM",
        request_.compute, nodes_, request_.compute);
  }
  if (nodes_ == 1) {
    job_ = Job::Alone();
    return {};
  }
  JoinConfig config{.self = 0, .nodes = nodes_};
  SLIM_ASSIGN(config.listener, ListenTcp("127.0.0.1"));
  SLIM_ASSIGN(config.secret, NewSecret());
  const std::string hub = fmt::format("127.0.0.1:{}", LocalAddress(config.listener.get()).port());
  for (NodeId node = 1; node < nodes_; ++node) {
    SLIM_TRY(memory_nodes_.Start(options.memory_node_program, node, nodes_, hub, config.secret));
  }
  config.still_coming = [this] { return memory_nodes_.CheckAllRun(); };
  SLIM_ASSIGN(job_, Job::Join(std::move(config), OnLoss::kReport));
  return {};
}

Status Nodes::JoinLaunched(const SessionOptions& options) {
  if (nodes_ != StartedNodes()) {
    return UsageError("SessionOptions.nodes is {}, but the launcher has started {} processes",
                      nodes_, StartedNodes());
  }
  self_ = StartedRank();
  if (self_ >= request_.compute) {
    ::execlp(options.memory_node_program.c_str(), options.memory_node_program.c_str(),
             kMemoryNodeCommand, nullptr);
    return EnvironmentError("cannot become the memory-node program '{}': {}",
                            options.memory_node_program, std::strerror(errno));
  }
  static std::atomic<bool> joined{false};
  if (joined.exchange(true)) {
    return UsageError(
        "this process has already been a node of a session: under a launcher, a program opens one "
        "session");
  }
  SLIM_ASSIGN(job_, Job::JoinFromEnvironment(PmiUse::kFormJob, OnLoss::kReport));
  return {};
}

Result<Call> Nodes::Do(const std::string& name, Result<Call> mine) {
  if (!job_) return UsageError("{}: the session is closed", name);
  if (failure_) return tl::unexpected<Error>(*failure_);
  if (mine) mine->dropped = dropped_;
  auto agreed = AgreeOnCall(*job_, name, mine);
  if (!agreed) {
    // A node may leave after a call that it cannot make. The failed exchange has another kind.
    if (job_->all_alive() || agreed.error().kind != ErrorKind::kEnvironment) return agreed;
    return tl::unexpected<Error>(Fail(agreed.error()));
  }
  for (const std::uint64_t graph : agreed->dropped) std::erase(dropped_, graph);
  const auto refusal = DoOnEveryNode(*job_, *agreed, graphs_, /*computes=*/true);
  if (!refusal) return tl::unexpected<Error>(Fail(refusal.error()));
  if (*refusal) return tl::unexpected<Error>(**refusal);
  return agreed;
}

Error Nodes::Fail(const Error& error) {
  if (nodes_ == 1) return error;
  if (!failure_) {
    failure_ = error;
    if (job_->all_alive()) {
      FailAndAwait(*job_, error);
    } else if (const std::string loss = job_->loss(); !loss.empty()) {
      failure_ = Error{ErrorKind::kEnvironment, loss};
    }
  }
  return *failure_;
}

OpenGraph* Nodes::Find(std::uint64_t graph) {
  const auto found = graphs_.find(graph);
  return found == graphs_.end() ? nullptr : found->second.get();
}

Status Nodes::Close() {
  if (!job_) return {};
  Status done;
  if (!failure_) {
    dropped_.clear();
    for (const auto& [number, graph] : graphs_) dropped_.push_back(number);
    const auto call = Do("Close", Call{.name = "Close", .task = Task::kEnd});
    done = call ? job_->Leave(0) : Status(tl::unexpect, call.error());
  }
  if (failure_) {
    job_->LeaveAfter(*failure_);
  } else if (!done) {
    job_->LeaveAfter(done.error());
  }
  graphs_.clear();
  job_.reset();
  memory_nodes_.Reap();
  return done;
}

}  // namespace slimgraph::internal
