#include "txnlayer/engine.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/parallel.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/units.h"
#include "slimgraph/cluster/nodes_on_this_host.h"
#include "txnlayer/internal/engine/engine_thread.h"
#include "txnlayer/internal/replication/log_ring.h"
#include "txnlayer/internal/store/hash.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kMostVersionBytes = std::uint64_t{1} << 32;
// A message has to hold the counts of all threads.
constexpr std::size_t kMostCounts = 256;

}  // namespace

Status SwitchOff(std::string_view words, EngineOptions& options) {
  for (const std::string_view word : Split(words)) {
    if (word == "outstanding") {
      options.outstanding = false;
    } else if (word == "doorbells") {
      options.doorbells = false;
    } else if (word == "passive") {
      options.passive = false;
    } else if (word == "speculation") {
      options.speculation = false;
    } else if (word == "cache") {
      options.cache_bytes = 0;
    } else if (word == "own-home") {
      options.own_home = false;
    } else {
      return UsageError(
          "there is no optimisation '{}'; there are outstanding, doorbells, passive, speculation, "
          "cache, own-home (and --coroutines 1)",
          word);
    }
  }
  return {};
}

Status CheckReplicas(std::uint32_t replicas, NodeId nodes) {
  if (replicas >= 1 && replicas <= nodes) return {};
  return UsageError("--replicas {} is out of range: there are {} nodes, each of which holds one",
                    replicas, nodes);
}

Status CheckLogBytes(std::uint64_t bytes) {
  if (bytes >= LogShape::kLeastBytes && bytes <= LogShape::kMostBytes) return {};
  return UsageError("{} is out of range: give {} to {}", FormatBytes(bytes),
                    FormatBytes(LogShape::kLeastBytes), FormatBytes(LogShape::kMostBytes));
}

Status CheckVersionBytes(std::uint64_t bytes) {
  if (bytes >= OldVersions::kLeastRoom && bytes <= kMostVersionBytes) return {};
  return UsageError("--version-memory {}: give {} to {}", FormatBytes(bytes),
                    FormatBytes(OldVersions::kLeastRoom), FormatBytes(kMostVersionBytes));
}

Status CheckDeaths(const EngineOptions& options, NodeId nodes, const Protocol& protocol) {
  const DeathInRepair& later = options.death_in_repair;
  if (later.node && (*later.node >= nodes || later.step > DeathInRepair::kSteps)) {
    return UsageError("--die {}@repair:{}: there are nodes 0..{}, and steps 1..{}", *later.node,
                      later.step, nodes - 1, DeathInRepair::kSteps);
  }
  const Death& death = options.death;
  if (!death.node) return {};
  const auto stages = protocol.stages();
  if (*death.node < nodes && std::find(stages.begin(), stages.end(), death.stage) != stages.end()) {
    return {};
  }
  return UsageError("--die {}@{}: expected a node 0..{} and a stage of {}", *death.node,
                    StageName(death.stage), nodes - 1, protocol.name());
}

Status CheckCoroutines(std::uint32_t coroutines) {
  if (coroutines >= 1 && coroutines <= kMaxCoroutines) return {};
  return UsageError("--coroutines {} is out of range: timestamps can name 1..{} of a thread",
                    coroutines, kMaxCoroutines);
}

namespace {

// Two-sided stages change the same words with the home's processor as one-sided stages do with
// atomics. So both kinds of atomics must work together.
Status CheckStages(const Fabric& fabric, const Protocol& protocol, const EngineOptions& options) {
  if (fabric.atomics_by_processor() || !protocol.has_atomics()) return {};
  const auto stages = protocol.stages();
  const auto one_sided = [&](Stage stage) { return options.stages.one_sided(stage); };
  if (!options.mix_stages && std::all_of(stages.begin(), stages.end(), one_sided)) return {};
  return UsageError(
      "this adapter's atomics are not atomic with the processor's: over it, all stages of {} must "
      "be one-sided (--stages one-sided)",
      protocol.name());
}

}  // namespace

Status Engine::Configure(const EngineOptions& options) {
  SLIM_TRY(CheckCoroutines(options.coroutines));
  SLIM_TRY(CheckStages(cluster_.fabric(), protocol(), options));
  const std::uint32_t most = options_.most_coroutines;
  if (options.coroutines > most) {
    return UsageError("{} coroutines: at most {} were announced", options.coroutines, most);
  }
  options_ = options;
  options_.most_coroutines = most;
  return {};
}

Engine::Engine(Cluster& cluster, const Protocol& protocol, const EngineOptions& options)
    : cluster_(cluster),
      options_(options),
      tables_(cluster, protocol, options.replicas, options.table_bytes),
      quiescence_(cluster.fabric(), cluster.threads()),
      gate_(cluster.fabric(), cluster.threads()) {
  options_.most_coroutines = std::max(options.coroutines, options.most_coroutines);
}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::Make(Cluster& cluster, const Protocol& protocol,
                                             const EngineOptions& options) {
  SLIM_TRY(CheckCoroutines(std::max(options.coroutines, options.most_coroutines)));
  SLIM_TRY(CheckCoroutines(options.coroutines));
  SLIM_TRY(CheckStages(cluster.fabric(), protocol, options));
  SLIM_TRY(CheckReplicas(options.replicas, cluster.topology().nodes()));
  SLIM_TRY(CheckDeaths(options, cluster.topology().nodes(), protocol));
  if (options.replicas > 1 && !cluster.fabric().survives_deaths()) {
    return UsageError(
        "over {} all nodes end when one dies; --replicas needs --transport shm or tcp",
        cluster.fabric().transport());
  }
  if (options.ledger.remote && options.replicas > 1) {
    return UsageError("--commit-log remote is for --replicas 1");
  }
  if (cluster.threads() > kMaxThreads) {
    return UsageError("--threads {} is out of range: timestamps can name 1..{} of a node",
                      cluster.threads(), kMaxThreads);
  }
  const std::size_t threads = std::size_t{cluster.topology().nodes()} * cluster.threads();
  if (protocol.shape().timestamps == Timestamps::kVector && threads > kMostCounts) {
    return UsageError("--timestamps vector is for at most {} threads in all; there are {}",
                      kMostCounts, threads);
  }
  std::unique_ptr<Engine> engine(new Engine(cluster, protocol, options));
  if (options.replicas > 1) {
    SLIM_ASSIGN(engine->replication_, Replication::Make(engine->tables_, options.log_bytes));
  }
  if (engine->timed())
    SLIM_TRY(engine->tables_.KeepVersions(cluster.threads(), options.version_bytes));
  const std::size_t threads_here = NodesOnThisHost(cluster.job()).size() * cluster.threads();
  for (std::uint32_t thread = 0; thread < cluster.threads(); ++thread) {
    engine->threads_.push_back(std::make_unique<Thread>(*engine, thread));
    if (threads_here <= UsableThreads()) engine->threads_.back()->worker.HasProcessor();
  }
  for (const auto& thread : engine->threads_) {
    SLIM_ASSIGN(thread->companion, protocol.MakeCompanion(*engine, thread->worker));
  }
  Engine* const raw = engine.get();
  Fabric& fabric = cluster.fabric();
  engine->handlers_.push_back(
      fabric.SetHandler(kRequestHandler, [raw](Endpoint& endpoint, const Message& message) {
        if (!raw->cluster_.fabric().alive(message.from.node))
          return;  // the sender expects no reply any more
        Thread& thread = *raw->threads_[endpoint.address().endpoint];
        CallHeader header;
        std::memcpy(&header, message.body.data(), sizeof header);
        if (header.what >= kFirstCompanionRequest) {
          thread.companion->Serve(message);
        } else if (header.what == kLedgerDrainRequest) {
          thread.ledger_server.Serve(*raw->durability_, message);
        } else {
          thread.server.Serve(message);
        }
      }));
  engine->handlers_.push_back(
      fabric.SetHandler(kReplyHandler, [raw](Endpoint& endpoint, const Message& message) {
        raw->threads_[endpoint.address().endpoint]->worker.OnReply(message);
      }));
  SLIM_TRY(cluster.all().Barrier());
  return engine;
}

Status Engine::KeepLogs(const std::string& folder, const LogSubject& subject, AsideOwner* aside) {
  SLIM_ASSIGN(durability_, Durability::Begin(
                               tables_, folder, subject, aside,
                               [this](const Error& error) { FailJob(error); }, options_.ledger));
  if (Ledger* const ledger = durability_->ledger(); ledger != nullptr && cluster_.computes()) {
    for (const auto& thread : threads_) thread->ledger.Use(*ledger);
  }
  return {};
}

EndpointAddress Engine::ServerOf(const Table& table, Key key) const {
  // Uses other bits of the hash than the choice of the bucket.
  return {tables_.view().Primary(table.Home(key)),
          static_cast<std::uint32_t>((Mix(key) >> 32) * threads_.size() >> 32)};
}

}  // namespace slimgraph::txn
