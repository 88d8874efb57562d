#include "slimgraph/pool/pool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/files.h"
#include "slimgraph/base/folders.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/topology.h"
#include "slimgraph/launch/host_identity.h"
#include "slimgraph/launch/hosts.h"
#include "slimgraph/pool/internal/conversation.h"
#include "slimgraph/pool/internal/launch_nodes.h"
#include "slimgraph/pool/internal/open_pool.h"
#include "slimgraph/pool/internal/start_node.h"

namespace slimgraph {
namespace {

using internal::CheckVersion;
using internal::Conversation;
using internal::CountRunning;
using internal::OpenAll;
using internal::Words;

constexpr std::chrono::seconds kUntilNodeEnds{5};
constexpr std::uint64_t kUntilKilledNs = 3'000'000'000;  // if it does not answer
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

Words Request(std::string_view verb, Words words = {}) {
  words.insert(words.begin(), std::string(verb));
  return words;
}

Status AskAll(std::vector<Conversation>& conversations, const Words& request) {
  for (Conversation& conversation : conversations) SLIM_TRY(conversation.Ask(request));
  return {};
}

// Of a file; the pool's nodes have another folder than this process.
Result<std::string> AbsolutePath(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::string here(4096, '\0');
  if (::getcwd(here.data(), here.size()) == nullptr) {
    return EnvironmentError("cannot find this folder's path: {}", std::strerror(errno));
  }
  return here.substr(0, here.find('\0')) + "/" + path;
}

// Why a node that has just been started does not answer is in the log.
auto CannotStart(const Error& error, const PoolDescriptor& pool, NodeId node) {
  return EnvironmentError("the pool cannot start: {}; {} may say why", error.message,
                          NameOfLog(pool, node));
}

Status LoadAgain(const std::vector<KeptGraphStatus>& graphs,
                 std::vector<Conversation>& conversations) {
  for (const KeptGraphStatus& graph : graphs) {
    if (!graph.view.empty()) {
      SLIM_TRY(internal::MakeView(conversations, graph.name, graph.view));
      continue;
    }
    for (Conversation& node : conversations) {
      const auto loaded = node.Ask(
          Request(internal::kLoad, {graph.name, graph.id, graph.file, graph.shown}), kNoLimit);
      if (!loaded) {
        return EnvironmentError("graph '{}' is not complete: {}; drop it, or start the pool again",
                                graph.name, loaded.error().message);
      }
      if (loaded->empty() || loaded->front() != graph.facts) {
        return InputError("{} has changed since graph '{}' was loaded: drop it, and load it again",
                          graph.shown, graph.name);
      }
      SLIM_TRY(node.Ask(Request(internal::kKeep)));
    }
  }
  return {};
}

Result<PoolLoaded> LoadOnAll(const PoolLoad& load, std::vector<Conversation>& nodes) {
  SLIM_ASSIGN(const std::string file, AbsolutePath(load.file));
  SLIM_ASSIGN(const std::string shown, AbsolutePath(load.shown.empty() ? load.file : load.shown));
  SLIM_ASSIGN(const std::string id, NewSecret());
  for (Conversation& node : nodes) {
    SLIM_TRY(node.Send(Request(internal::kLoad, {load.graph, id.substr(0, 16), file, shown})));
  }
  PoolLoaded loaded{.nodes = static_cast<NodeId>(nodes.size())};
  std::string facts;
  SLIM_ASSIGN(const auto answers, internal::AwaitAll(nodes));
  for (const Words& answer : answers) {
    if (answer.size() != 2 || (!facts.empty() && answer[0] != facts)) {
      return InputError(
          "{}: is not the same for all nodes: load it again if it has just changed, or copy it to "
          "all hosts",
          shown);
    }
    facts = answer[0];
    std::uint64_t bytes = 0;
    std::from_chars(answer[1].data(), answer[1].data() + answer[1].size(), bytes);
    loaded.bytes += bytes;
  }
  SLIM_TRY(AskAll(nodes, Request(internal::kKeep)));
  return loaded;
}

bool SameHosts(const PoolDescriptor& pool, const std::vector<std::string>& hosts) {
  for (std::size_t node = 0; node < pool.nodes.size(); ++node) {
    if (pool.nodes[node].host != hosts[node % hosts.size()]) return false;
  }
  return true;
}

// Whether a pool that runs has what is asked for.
template <typename T>
Status CheckSame(const std::string& pool, const char* option, const std::optional<T>& asked,
                 const T& has) {
  if (asked.value_or(has) == has) return {};
  return UsageError("pool '{}' runs with {} {}: stop it first, to start it with {}", pool, option,
                    has, *asked);
}

// The system closes the sockets of a process that has ended one after the other.
bool EndsSoon(const PoolNodeAddress& node) {
  const std::uint64_t deadline_ns =
      NowNs() + static_cast<std::uint64_t>(std::chrono::nanoseconds(kUntilNodeEnds).count());
  while (IsRunning(node)) {
    if (NowNs() > deadline_ns) return false;
    SleepFor(std::chrono::milliseconds(5));
  }
  return true;
}

// The descriptor with which to start: that of a pool of which some nodes have ended, or a new one.
Result<PoolDescriptor> DescriptorToStart(const PoolStart& start, bool exists) {
  PoolDescriptor pool;
  if (exists) {
    SLIM_ASSIGN(pool, ReadOwnDescriptor(start.name, "starts its nodes again"));
    const bool runs = CountRunning(pool) > 0;
    if (runs) SLIM_TRY(CheckVersion(pool));
    if (runs && start.nodes.value_or(pool.nodes.size()) != pool.nodes.size()) {
      return UsageError("pool '{}' runs on {} nodes: stop it first, to start it on {}", start.name,
                        pool.nodes.size(), *start.nodes);
    }
    if (runs && !start.hosts.empty() && !SameHosts(pool, start.hosts)) {
      return UsageError("pool '{}' runs on other hosts: stop it first, to start it on these",
                        start.name);
    }
    if (runs && !start.launcher.empty() && start.launcher != pool.launcher) {
      return UsageError("pool '{}' runs {}: stop it first, to start it by another launcher",
                        start.name,
                        pool.launcher.empty() ? "without a launcher" : "by " + pool.launcher);
    }
    if (runs) {
      const std::string& name = start.name;
      SLIM_TRY(CheckSame(name, "--copies", start.copies, pool.copies));
      SLIM_TRY(CheckSame(name, "--memory", start.memory_bytes, pool.memory_bytes));
      SLIM_TRY(CheckSame(name, "--job-memory", start.job_memory_bytes, pool.job_memory_bytes));
      SLIM_TRY(CheckSame(name, "--job-bandwidth", start.job_bytes_per_s, pool.job_bytes_per_s));
      SLIM_TRY(CheckSame(name, "--host-cache", start.host_cache_bytes, pool.host_cache_bytes));
    }
    if (runs && start.encrypts && !pool.encrypts) {
      return UsageError("pool '{}' runs without --encrypt: stop it first, to start it with it",
                        start.name);
    }
    if (runs) return pool;
  }
  if (!start.launcher.empty()) pool.launcher = start.launcher;
  if (!start.hosts.empty()) pool.launcher.clear();
  const bool launched = !pool.launcher.empty();
  if (launched && pool.launcher.find(internal::kNodesOfLauncher) == std::string::npos) {
    return UsageError("--launcher '{}' has no {}, which stands for how many nodes to start",
                      pool.launcher, internal::kNodesOfLauncher);
  }
  std::vector<std::string> hosts = start.hosts;
  for (const PoolNodeAddress& node : pool.nodes) {
    if (start.hosts.empty() && !node.host.empty() && !launched) hosts.push_back(node.host);
  }
  const std::size_t before = hosts.empty() ? pool.nodes.size() : hosts.size();
  const NodeId nodes = start.nodes.value_or(static_cast<NodeId>(before));
  if (nodes == 0) return UsageError("pool '{}' is new: give --nodes or --hosts", start.name);
  SLIM_TRY(Topology::Make(nodes, 1));
  pool.name = start.name;
  pool.version = SLIMGRAPH_VERSION;
  pool.memory_bytes = start.memory_bytes.value_or(pool.memory_bytes);
  pool.job_memory_bytes = start.job_memory_bytes.value_or(pool.job_memory_bytes);
  pool.job_bytes_per_s = start.job_bytes_per_s.value_or(pool.job_bytes_per_s);
  pool.host_cache_bytes = start.host_cache_bytes.value_or(pool.host_cache_bytes);
  pool.copies = start.copies.value_or(pool.copies);
  pool.encrypts = pool.encrypts || start.encrypts;
  if (pool.copies == 0 || pool.copies > nodes) {
    return UsageError("--copies is {}: give 1 to {}, the number of nodes", pool.copies, nodes);
  }
  pool.host_name = HostName();
  pool.nodes.assign(nodes, {});
  for (NodeId node = 0; node < nodes && !hosts.empty(); ++node) {
    pool.nodes[node].host = hosts[node % hosts.size()];
  }
  SLIM_ASSIGN(pool.key, NewSecret());
  return pool;
}

// On an error, none of them runs.
Status StartNodes(PoolDescriptor& pool, const std::vector<NodeId>& nodes,
                  const std::string& program, const std::string& log) {
  if (!pool.launcher.empty() && !nodes.empty()) {
    return internal::LaunchNodes(pool, nodes, internal::PathOf(program), log);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Status started = internal::StartNode(pool, nodes[i], program, log);
    if (started) continue;
    for (std::size_t j = 0; j < i; ++j) {
      // What cannot be reached ends by itself, since nobody confirms it.
      static_cast<void>(internal::EndNode(pool.nodes[nodes[j]], program));
    }
    return started;
  }
  return {};
}

// The caller holds the pool's lock.
Result<PoolStarted> StartLocked(const PoolStart& start, bool exists, const std::string& log) {
  PoolStarted done;
  SLIM_ASSIGN(done.pool, DescriptorToStart(start, exists));
  PoolDescriptor& pool = done.pool;
  std::vector<KeptGraphStatus> graphs;
  std::vector<NodeId> ended;
  for (NodeId node = 0; node < pool.nodes.size(); ++node) {
    if (!IsRunning(pool.nodes[node])) {
      ended.push_back(node);
    } else if (graphs.empty()) {
      SLIM_ASSIGN(auto living, Conversation::Open(pool, node));
      SLIM_ASSIGN(const Words words, living.Ask(Request(internal::kStatus)));
      SLIM_ASSIGN(const auto status, StatusFromWords(words));
      for (const KeptGraphStatus& graph : status.graphs) {
        if (graph.ready) graphs.push_back(graph);
      }
    }
  }
  // Nodes that have been started end if these connections close before they are confirmed.
  std::vector<Conversation> conversations;
  SLIM_TRY(StartNodes(pool, ended, start.program, log));
  for (const NodeId node : ended) {
    auto conversation = Conversation::Open(pool, node);
    if (!conversation) return CannotStart(conversation.error(), pool, node);
    const auto status = conversation->Ask(Request(internal::kStatus));
    if (!status) return CannotStart(status.error(), pool, node);
    conversations.push_back(*std::move(conversation));
  }
  if (ended.empty()) return done;
  SLIM_TRY(WriteDescriptor(pool));
  SLIM_TRY(AskAll(conversations, Request(internal::kConfirm)));
  done.started = static_cast<NodeId>(ended.size());
  SLIM_TRY(LoadAgain(graphs, conversations));
  for (const KeptGraphStatus& graph : graphs) {
    if (graph.view.empty()) done.reloaded.push_back(graph.name);
  }
  return done;
}

}  // namespace

Result<PoolStarted> StartPool(const PoolStart& start) {
  SLIM_ASSIGN(const PoolLock lock, LockPool(start.name));
  SLIM_ASSIGN(const std::string folder, PoolsFolder());
  SLIM_ASSIGN(const bool exists, Exists(DescriptorPath(folder, start.name)));
  const std::string log = LogPath(folder, start.name);
  auto started = StartLocked(start, exists, log);
  // A log in which nodes have said why stays.
  struct stat written;
  if (!started && !exists && files::StatOf(log, written) == 0 && written.st_size == 0) {
    SLIM_TRY(RemoveFile(log));
  }
  return started;
}

Result<PoolLoaded> LoadIntoPool(const PoolLoad& load) {
  SLIM_TRY(CheckPoolName("graph", load.graph));
  SLIM_ASSIGN(const PoolDescriptor pool, ReadOwnDescriptor(load.pool, "loads graphs"));
  SLIM_TRY(CheckVersion(pool));
  SLIM_ASSIGN(auto nodes, OpenAll(pool));
  auto loaded = LoadOnAll(load, nodes);
  if (!loaded) {
    for (Conversation& node : nodes) node.GiveUp();
    return loaded;
  }
  for (const std::string& view : load.views) {
    const Status made = internal::MakeView(nodes, load.graph, view);
    if (made) continue;
    nodes.clear();
    SLIM_TRY(DropFromPool(load.pool, load.graph));
    return tl::unexpected<Error>(made.error());
  }
  return loaded;
}

Status DropFromPool(const std::string& name, const std::string& graph) {
  SLIM_TRY(CheckPoolName("graph", graph));
  SLIM_ASSIGN(const PoolDescriptor pool, ReadOwnDescriptor(name, "drops graphs"));
  std::optional<Error> failure;
  bool dropped = false;
  for (NodeId node = 0; node < pool.nodes.size(); ++node) {
    if (!IsRunning(pool.nodes[node])) continue;
    SLIM_ASSIGN(auto conversation, Conversation::Open(pool, node));
    const auto answer = conversation.Ask(Request(internal::kDrop, {graph}));
    if (answer) dropped = true;
    if (!answer && !failure) failure = answer.error();
  }
  // A graph that only some nodes had is gone now, too.
  if (dropped) return {};
  if (failure) return tl::unexpected<Error>(*failure);
  return OpenAll(pool).map([](const auto&) {});
}

Result<PoolView> ViewPool(const std::string& name) {
  PoolView view;
  SLIM_ASSIGN(view.pool, ReadDescriptor(name));
  for (NodeId node = 0; node < view.pool.nodes.size(); ++node) {
    PoolNodeView& one = view.nodes.emplace_back();
    one.where = view.pool.nodes[node];
    one.runs = IsRunning(one.where);
    const auto status = [&]() -> Result<PoolNodeStatus> {
      SLIM_ASSIGN(auto conversation, Conversation::Open(view.pool, node));
      SLIM_ASSIGN(const Words words, conversation.Ask(Request(internal::kStatus)));
      return StatusFromWords(words);
    }();
    if (status) {
      one.status = *status;
    } else {
      one.problem = status.error().message;
    }
  }
  return view;
}

Status StopPool(const std::string& name, bool now) {
  const std::string change = fmt::format("stops it; 'slimgraph pool forget {}' forgets it", name);
  SLIM_TRY(ReadOwnDescriptor(name, change));
  SLIM_ASSIGN(const PoolLock lock, LockPool(name));
  SLIM_ASSIGN(const PoolDescriptor pool, ReadOwnDescriptor(name, change));
  std::vector<Conversation> conversations;
  std::vector<const PoolNodeAddress*> running;
  for (NodeId node = 0; node < pool.nodes.size(); ++node) {
    if (!IsRunning(pool.nodes[node])) continue;
    running.push_back(&pool.nodes[node]);
    auto conversation = Conversation::Open(pool, node, now ? kUntilKilledNs : internal::kAnswerNs);
    if (conversation) {
      conversations.push_back(*std::move(conversation));
    } else if (!now) {
      return EnvironmentError("{}; --now ends it", conversation.error().message);
    }
  }
  if (!now) SLIM_TRY(AskAll(conversations, Request(internal::kHoldStill)));
  for (Conversation& conversation : conversations) {
    const auto stopped = conversation.Ask(Request(internal::kStop));
    if (!stopped && !now) return tl::unexpected<Error>(stopped.error());
  }
  // The end of a connection is that of the node.
  for (const Conversation& conversation : conversations) {
    AwaitReadable(conversation.fd(), kUntilNodeEnds);
  }
  for (const PoolNodeAddress* const node : running) {
    if (!IsRunning(*node)) continue;
    if (!pool.launcher.empty() && node->machine != HostIdentity()) {
      if (EndsSoon(*node)) continue;
      return EnvironmentError("process {} on host {} does not end: end its launcher, '{}'",
                              node->process, node->host, pool.launcher);
    }
    SLIM_TRY(internal::EndNode(*node, "/proc/self/exe"));
  }
  return RemoveDescriptor(name);
}

Result<std::vector<PoolSummary>> ListPools() {
  SLIM_ASSIGN(const auto names, PoolNames());
  std::vector<PoolSummary> pools;
  for (const std::string& name : names) {
    PoolSummary& summary = pools.emplace_back();
    summary.name = name;
    const auto pool = ReadDescriptor(name);
    if (!pool) {
      summary.problem = pool.error().message;
      continue;
    }
    summary.nodes = static_cast<NodeId>(pool->nodes.size());
    summary.running = CountRunning(*pool);
    summary.read_only = pool->read_only;
  }
  return pools;
}

}  // namespace slimgraph
