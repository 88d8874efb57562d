#include "slimgraph/pool/attach.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "slimgraph/base/child_process.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/cluster/topology.h"
#include "slimgraph/launch/hosts.h"
#include "slimgraph/launch/place.h"
#include "slimgraph/pool/cache_agent.h"
#include "slimgraph/pool/internal/node_state.h"
#include "slimgraph/pool/internal/open_pool.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kUntilDeputiesEndNs = 1'000'000'000;
constexpr std::uint64_t kUntilComputeNodesEndNs = 3'000'000'000;

std::string FolderHere() {
  std::string here(4096, '\0');
  return ::getcwd(here.data(), here.size()) == nullptr ? "/" : here.substr(0, here.find('\0'));
}

// A confined deputy cannot map the memory of compute nodes, nor can they map that of another user.
Status CheckTransport(const PoolDescriptor& pool, const std::string& transport) {
  if (!pool.read_only || transport != "shm") return {};
  return UsageError("pool '{}' is shared with you for reading: its jobs run over --transport tcp",
                    pool.name);
}

}  // namespace

// The connections to the pool's nodes: a deputy lives as long as its connection.
struct Attachment::Deputies {
  PoolDescriptor pool;
  std::vector<internal::Conversation> connections;
};

Attachment::Attachment() = default;
Attachment::~Attachment() { Reap(); }

Result<std::unique_ptr<Attachment>> Attachment::Make(const AttachRequest& request) {
  std::unique_ptr<Attachment> made(new Attachment);
  made->deputies_ = std::make_unique<Deputies>();
  PoolDescriptor& pool = made->deputies_->pool;
  SLIM_ASSIGN(pool, ReadDescriptor(request.pool));
  SLIM_TRY(internal::CheckVersion(pool));
  SLIM_TRY(CheckTransport(pool, request.transport));
  SLIM_ASSIGN(made->deputies_->connections, internal::OpenForParts(pool));
  auto& connections = made->deputies_->connections;
  SLIM_ASSIGN(const auto found, connections[0].Ask({std::string(internal::kFind), request.graph}));
  if (found.size() != 2) return EnvironmentError("pool '{}' has sent no graph", request.pool);
  made->facts_ = {.nodes = static_cast<NodeId>(pool.nodes.size()),
                  .copies = pool.copies,
                  .id = found[0],
                  .facts = found[1]};
  std::string view;
  if (request.view_of) {
    SLIM_ASSIGN(view, request.view_of(found[1]));
  }
  SLIM_TRY(internal::MakeView(connections, request.graph, view));
  if (request.views_are_graphs && !view.empty()) {
    const std::string key = internal::NodeState::KeyOf(request.graph, view);
    SLIM_ASSIGN(const auto of_view, connections[0].Ask({std::string(internal::kFind), key}));
    if (of_view.size() != 2) return EnvironmentError("pool '{}' has sent no view", request.pool);
    made->facts_.facts = of_view[1];
  }

  const NodeId nodes = request.compute + made->facts_.nodes;
  SLIM_TRY(Topology::Make(nodes, request.compute));
  JoinConfig& config = made->config_;
  config.self = 0;
  config.nodes = nodes;
  SLIM_ASSIGN(config.listener, ListenTcp(pool.has_hosts() ? "0.0.0.0" : "127.0.0.1"));
  SLIM_ASSIGN(config.secret, NewSecret());
  config.encrypts = pool.encrypts;
  config.confined = pool.read_only;
  config.quota = {.first_lender = request.compute,
                  .memory_bytes = pool.job_memory_bytes,
                  .bytes_per_s = (pool.job_bytes_per_s + request.compute - 1) / request.compute};
  const std::string program =
      request.compute_command.empty() ? "/proc/self/exe" : request.compute_command.front();
  const bool over_tcp = request.transport == "tcp" ||
                        (request.transport.empty() && (pool.has_hosts() || config.confined));
  const std::optional<NodeId> host_of = request.in_place.only;
  if (host_of && *host_of >= made->facts_.nodes) {
    return UsageError("--host-of {}: pool '{}' has nodes 0 to {}", *host_of, request.pool,
                      made->facts_.nodes - 1);
  }
  if (host_of && over_tcp) {
    return UsageError("--host-of imitates hosts over shm; over tcp, nothing is used in place");
  }
  const bool reads = over_tcp || !request.in_place.all();
  if (reads && !request.is_cache && pool.host_cache_bytes > 0) {
    config.host_cache = FindCacheAgent(pool,
                                       {.pool = request.pool,
                                        .graph = request.graph,
                                        .view = view,
                                        .id = found[0],
                                        .host_of = host_of},
                                       program);
  }
  Place place{.nodes = nodes,
              .compute = request.compute,
              .hub = pool.has_hosts()
                         ? HubAddresses(config.listener)
                         : fmt::format("127.0.0.1:{}", LocalAddress(config.listener.get()).port()),
              .secret = config.secret,
              .encrypts = pool.encrypts,
              .confined = config.confined,
              .quota = config.quota,
              .host_cache = config.host_cache};
  // Agents of imitated hosts differ in it, too.
  std::string host = pool.has_hosts() ? "@" + HostName() : "";
  if (request.is_cache && host_of) host = fmt::format("@node{}", *host_of);
  for (NodeId i = 0; i < connections.size(); ++i) {
    place.node = request.compute + i;
    std::vector<std::string> words{
        std::string(internal::kAttach),
        request.graph,
        view,
        found[0],
        place.ToText(),
        FolderHere(),
        fmt::format("{}{}", request.process == 0 ? ::getpid() : request.process, host),
        fmt::format("{}", i),
        fmt::format("{}", request.compute),
        std::string(request.is_cache    ? internal::kCache
                    : request.resizable ? internal::kResizable
                                        : "")};
    words.insert(words.end(), request.words.begin(), request.words.end());
    SLIM_TRY(connections[i].Send(words));
  }
  for (NodeId node = 1; node < request.compute; ++node) {
    place.node = node;
    std::vector<std::string> command = request.compute_command;
    const bool is_this_program = command.empty();
    if (is_this_program) {
      command = request.words;
      command.insert(command.begin(), "/proc/self/exe");
    }
    SLIM_ASSIGN(const pid_t process, StartProgram(command, place, /*quiet=*/true,
                                                  /*ends_with_starter=*/is_this_program));
    made->compute_.push_back(process);
  }
  for (auto& connection : connections) SLIM_TRY(connection.AwaitAnswer(internal::kAnswerNs));
  Attachment* const self = made.get();
  config.still_coming = [self] { return self->CheckAllRun(); };
  return made;
}

JoinConfig Attachment::TakeConfig() {
  joined_ = true;
  return std::move(config_);
}

Status Attachment::CheckAllRun() {
  for (const pid_t process : compute_) {
    if (!HasEnded(process)) continue;
    std::erase(compute_, process);
    return EnvironmentError("a compute node ended before it joined the job");
  }
  for (std::size_t i = 0; i < deputies_->connections.size(); ++i) {
    if (!ConnectionHasEnded(i)) continue;
    const internal::Conversation& connection = deputies_->connections[i];
    return EnvironmentError(
        "the deputy of node {} of pool '{}' ended before it joined the job; {} may say why",
        connection.node(), deputies_->pool.name, NameOfLog(deputies_->pool, connection.node()));
  }
  return {};
}

bool Attachment::ConnectionHasEnded(std::size_t i) {
  internal::Conversation& connection = deputies_->connections[i];
  while (connection.AwaitSomething(std::chrono::nanoseconds(0))) {
    const auto said = connection.Receive(NowNs() + internal::kAnswerNs);
    if (!said || !*said || (*said)->size() != 2) return true;
    if ((*said)->front() == internal::kUnwanted) {
      why_unwanted_ = (*said)->back();
      continue;
    }
    if ((*said)->front() != internal::kResize) return true;
    const auto compute = std::strtoul((*said)->back().c_str(), nullptr, 10);
    if (compute > 0) resize_ = static_cast<NodeId>(compute);
  }
  return false;
}

std::string Attachment::WhyUnwanted() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < deputies_->connections.size(); ++i) {
    static_cast<void>(ConnectionHasEnded(i));
  }
  return why_unwanted_;
}

std::optional<NodeId> Attachment::TakeResize() {
  const std::lock_guard lock(mutex_);
  // If a connection has ended, the job learns it otherwise: it has lost a memory node.
  for (std::size_t i = 0; i < deputies_->connections.size(); ++i) {
    static_cast<void>(ConnectionHasEnded(i));
  }
  return std::exchange(resize_, std::nullopt);
}

void Attachment::TellKept(const std::string& why) {
  for (auto& connection : deputies_->connections) {
    static_cast<void>(connection.Send({std::string(internal::kKept), why}));
  }
}

void Attachment::TellCached(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (auto& connection : deputies_->connections) {
    static_cast<void>(connection.Send({std::string(internal::kCached), fmt::format("{}", bytes)}));
  }
}

// A node tells the end of its deputy, after which `pool stop` does not mind this job any more.
void Attachment::Reap() {
  std::uint64_t deadline_ns = NowNs() + kUntilDeputiesEndNs;
  for (std::size_t i = 0; joined_ && i < deputies_->connections.size(); ++i) {
    while (!ConnectionHasEnded(i) && NowNs() < deadline_ns) {
      deputies_->connections[i].AwaitSomething(std::chrono::nanoseconds(deadline_ns - NowNs()));
    }
  }
  deputies_.reset();
  deadline_ns = NowNs() + kUntilComputeNodesEndNs;
  for (const pid_t process : compute_) {
    const UniqueFd end = WatchProcess(process);
    const std::uint64_t now = NowNs();
    if (end && now < deadline_ns) {
      AwaitReadable(end.get(), std::chrono::nanoseconds(deadline_ns - now));
    }
    if (HasEnded(process)) continue;
    ::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  compute_.clear();
}

}  // namespace slimgraph
