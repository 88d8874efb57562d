#include "slimgraph/pool/internal/launch_nodes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <set>
#include <utility>

#include "slimgraph/base/child_process.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/split.h"
#include "slimgraph/launch/host_identity.h"
#include "slimgraph/launch/hosts.h"
#include "slimgraph/launch/job.h"
#include "slimgraph/launch/started_by.h"
#include "slimgraph/pool/internal/conversation.h"
#include "slimgraph/pool/internal/node_place.h"
#include "slimgraph/pool/internal/start_node.h"
#include "slimgraph/pool/pool_node.h"

namespace slimgraph {
namespace internal {
namespace {

constexpr std::size_t kMostStrangers = 64;
constexpr std::uint64_t kUntilLaunchedNs = 60'000'000'000;
constexpr std::uint64_t kAfterLauncherNs = 5'000'000'000;
constexpr std::uint64_t kLookNs = 100'000'000;

// What a launched process asks.
constexpr std::string_view kWhichNode = "which-node";
// PORT PROCESS STARTED MACHINE HOST ADDRESS
constexpr std::string_view kListens = "listens";

void Replace(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// The hosts of all nodes but those that start, each once.
std::string TakenHosts(const PoolDescriptor& pool, const std::vector<NodeId>& starting) {
  std::set<std::string> hosts;
  for (NodeId node = 0; node < pool.nodes.size(); ++node) {
    if (std::ranges::find(starting, node) == starting.end()) hosts.insert(pool.nodes[node].host);
  }
  std::string text;
  for (const std::string& host : hosts) text += (text.empty() ? "" : ",") + host;
  return text;
}

std::string CommandOf(const PoolDescriptor& pool, const std::vector<NodeId>& starting,
                      const std::string& program) {
  std::string launcher = pool.launcher;
  Replace(launcher, kNodesOfLauncher, fmt::format("{}", starting.size()));
  Replace(launcher, kTakenOfLauncher, TakenHosts(pool, starting));
  return fmt::format("{} {} {}", launcher, Quoted(program), kPoolJoinCommand);
}

// The launcher's process. Unless Keep() was called, all processes of its session are ended with
// this object.
class Launcher {
 public:
  explicit Launcher(pid_t process) : process_(process) {}
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher() {
    if (!keeps_) ::kill(-process_, SIGTERM);
  }
  void Keep() { keeps_ = true; }

  // An error if the launcher has failed. If it has ended well, its processes may still come, so the
  // deadline becomes an earlier one.
  Status Look(std::uint64_t& deadline_ns) {
    int status = 0;
    if (ended_ || ::waitpid(process_, &status, WNOHANG) != process_) return {};
    ended_ = true;
    deadline_ns = std::min(deadline_ns, NowNs() + kAfterLauncherNs);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (WIFSIGNALED(status)) {
      return EnvironmentError("the launcher was killed by signal {}", WTERMSIG(status));
    }
    return EnvironmentError("the launcher has ended with exit code {}", WEXITSTATUS(status));
  }

 private:
  const pid_t process_;
  bool ended_ = false;
  bool keeps_ = false;
};

Result<Words> HearFrom(Conversation& process, std::string_view verb, std::size_t words) {
  SLIM_ASSIGN(auto said, process.Receive(NowNs() + kAnswerNs));
  if (!said || said->size() != words || said->front() != verb) {
    return EnvironmentError("a process that the launcher has started does not say '{}'", verb);
  }
  return *std::move(said);
}

// Tells a process which node it is. Returns where it listens.
Result<PoolNodeAddress> Welcome(Conversation& process, const std::string& place) {
  SLIM_TRY(HearFrom(process, kWhichNode, 1));
  SLIM_TRY(process.Send({std::string(kDone), place}));
  SLIM_ASSIGN(const Words said, HearFrom(process, kListens, 7));
  SLIM_TRY(process.Send({std::string(kDone)}));
  return PoolNodeAddress{.host = said[5],
                         .address = fmt::format("{}:{}", said[6], said[1]),
                         .machine = said[4],
                         .process = static_cast<pid_t>(std::strtol(said[2].c_str(), nullptr, 10)),
                         .started = std::strtoull(said[3].c_str(), nullptr, 10)};
}

}  // namespace

Status LaunchNodes(PoolDescriptor& pool, const std::vector<NodeId>& nodes,
                   const std::string& program, const std::string& log) {
  SLIM_ASSIGN(const UniqueFd listener, ListenTcp("0.0.0.0"));
  SLIM_ASSIGN(const std::string secret, NewSecret());
  SLIM_ASSIGN(const HandshakeKey key, HandshakeKey::Derive(secret, kJoinPurpose));
  const std::string command = CommandOf(pool, nodes, program);
  const ProgramToStart start{
      .words = {"/bin/sh", "-c", command},
      .variables = {{kPoolJoinVariable, HubAddresses(listener) + " " + secret}},
      .input = "/dev/null",
      .output = log,
      .files = {{STDOUT_FILENO, STDERR_FILENO}},
      .close_from = STDERR_FILENO + 1,
      .new_session = true};
  SLIM_ASSIGN(const pid_t process, StartProgram(start));
  Launcher launcher(process);
  Newcomers newcomers(listener.get(), {key}, kMostStrangers);
  std::uint64_t deadline_ns = NowNs() + kUntilLaunchedNs;
  for (std::size_t i = 0; i < nodes.size();) {
    if (const Status looked = launcher.Look(deadline_ns); !looked) {
      return EnvironmentError("{}: {}; {} may say why", command, looked.error().message, log);
    }
    const std::uint64_t now = NowNs();
    if (now >= deadline_ns) {
      return EnvironmentError("{}: has started {} of {} nodes; {} may say why", command, i,
                              nodes.size(), log);
    }
    SLIM_ASSIGN(auto member, newcomers.Next(std::min(deadline_ns, now + kLookNs)));
    if (!member) continue;
    const NodePlace place{.node = nodes[i],
                          .nodes = static_cast<NodeId>(pool.nodes.size()),
                          .copies = pool.copies,
                          .memory_bytes = pool.memory_bytes,
                          .key = pool.key};
    SLIM_ASSIGN(auto joining, Conversation::Accept(*std::move(member), key, secret));
    SLIM_ASSIGN(pool.nodes[nodes[i++]], Welcome(joining, place.ToText()));
  }
  launcher.Keep();
  return {};
}

namespace {

// The address of this host, as seen from others.
std::string OwnAddress(const Conversation& starter) {
  if (const char* const named = std::getenv("SLIMGRAPH_HOST"); named != nullptr) return named;
  const std::string used = LocalAddress(starter.fd()).host();
  const auto all = HostAddresses();
  return used.starts_with("127.") && !all.empty() ? all.front() : used;
}

// The name by which Slurm knows this host, which may be another than its own.
std::string HostNameInCluster() {
  const char* const name = std::getenv("SLURMD_NODENAME");
  return name != nullptr ? name : HostName();
}

// Returns this node's place, and puts the socket on which it listens where the node expects it.
Result<std::string> LearnPlace() {
  const char* const set = std::getenv(kPoolJoinVariable);
  const std::string text = set == nullptr ? "" : set;
  ::unsetenv(kPoolJoinVariable);
  const auto words = Split(text, ' ');
  if (words.size() != 2) {
    return UsageError("{} is started by 'slimgraph pool start --launcher', not by hand",
                      kPoolJoinCommand);
  }
  SLIM_ASSIGN(UniqueFd listener, ListenTcp("0.0.0.0"));
  std::string place;
  {
    SLIM_ASSIGN(auto starter,
                Conversation::OpenToStarter(std::string(words[0]), std::string(words[1])));
    SLIM_ASSIGN(const Words told, starter.Ask({std::string(kWhichNode)}));
    if (told.size() != 1) return EnvironmentError("the pool has sent no place");
    place = told[0];
    SLIM_TRY(
        starter.Ask({std::string(kListens), fmt::format("{}", LocalAddress(listener.get()).port()),
                     fmt::format("{}", ::getpid()), fmt::format("{}", StartOfProcess(::getpid())),
                     HostIdentity(), HostNameInCluster(), OwnAddress(starter)}));
  }
  const int fd = listener.Release();
  if (fd != kPoolListener && (::dup2(fd, kPoolListener) < 0 || ::close(fd) != 0)) {
    return EnvironmentError("cannot move a socket");
  }
  return place;
}

}  // namespace
}  // namespace internal

Status JoinPool() {
  SLIM_ASSIGN(const std::string place, internal::LearnPlace());
  // Deputies are not the launcher's.
  ForgetLauncher();
  ::setenv(internal::kPoolNodeVariable, place.c_str(), 1);
  if (::chdir("/") != 0) return EnvironmentError("cannot leave this folder");
  return ServePoolNode();
}

}  // namespace slimgraph
