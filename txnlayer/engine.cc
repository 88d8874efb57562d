#include "txnlayer/engine.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/cluster/stage_scope.h"
#include "txnlayer/engine_thread.h"
#include "txnlayer/store/hash.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

// A thread's tasks have all ended: to endpoint 0 of node 0, and when it has all of these, back.
constexpr HandlerId kEndedHandler = 0x7A02;
constexpr HandlerId kStopHandler = 0x7A03;
// How soon what waits for a lock looks again: nobody tells of one-sided changes.
constexpr std::chrono::nanoseconds kLookAgain{30'000};

}  // namespace

Status SwitchOff(std::string_view words, EngineOptions& options) {
  while (!words.empty()) {
    const std::size_t comma = std::min(words.find(','), words.size());
    const std::string_view word = words.substr(0, comma);
    words.remove_prefix(std::min(comma + 1, words.size()));
    if (word == "outstanding") {
      options.outstanding = false;
    } else if (word == "doorbells") {
      options.doorbells = false;
    } else if (word == "passive") {
      options.passive = false;
    } else if (word == "cache") {
      options.cache_bytes = 0;
    } else {
      return UsageError(
          "there is no optimisation '{}'; there are outstanding, doorbells, passive, cache "
          "(and --coroutines 1)",
          word);
    }
  }
  return {};
}

Status CheckCoroutines(std::uint32_t coroutines) {
  if (coroutines >= 1 && coroutines <= kMaxCoroutines) return {};
  return UsageError("--coroutines {} is out of range: timestamps can name 1..{} of a thread",
                    coroutines, kMaxCoroutines);
}

namespace {

// The home of a tuple takes two-sided stages with its processor, on words that others change by
// atomics.
Status CheckStages(const Fabric& fabric, const Protocol& protocol, const EngineOptions& options) {
  if (fabric.atomics_by_processor() || !protocol.has_atomics()) return {};
  const auto stages = protocol.stages();
  const auto one_sided = [&](Stage stage) { return options.stages.one_sided(stage); };
  if (!options.mix_stages && std::all_of(stages.begin(), stages.end(), one_sided)) return {};
  return UsageError(
      "this adapter's atomics are not atomic with the processor's: over it, all stages of {} are "
      "to be one-sided (--stages one-sided)",
      protocol.name());
}

}  // namespace

Status Engine::Configure(const EngineOptions& options) {
  SLIM_TRY(CheckCoroutines(options.coroutines));
  SLIM_TRY(CheckStages(cluster_.fabric(), protocol_, options));
  options_ = options;
  return {};
}

Engine::Engine(Cluster& cluster, const Protocol& protocol, const EngineOptions& options)
    : cluster_(cluster), protocol_(protocol), options_(options) {}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::Make(Cluster& cluster, const Protocol& protocol,
                                             const EngineOptions& options) {
  SLIM_TRY(CheckCoroutines(options.coroutines));
  SLIM_TRY(CheckStages(cluster.fabric(), protocol, options));
  if (cluster.threads() > kMaxThreads) {
    return UsageError("--threads {} is out of range: timestamps can name 1..{} of a node",
                      cluster.threads(), kMaxThreads);
  }
  std::unique_ptr<Engine> engine(new Engine(cluster, protocol, options));
  for (std::uint32_t thread = 0; thread < cluster.threads(); ++thread) {
    engine->threads_.push_back(std::make_unique<Thread>(*engine, thread));
  }
  for (const auto& thread : engine->threads_) {
    SLIM_ASSIGN(thread->companion, protocol.MakeCompanion(*engine, thread->worker));
  }
  Engine* const raw = engine.get();
  Fabric& fabric = cluster.fabric();
  fabric.SetHandler(kRequestHandler, [raw](Endpoint& endpoint, const Message& message) {
    Thread& thread = *raw->threads_[endpoint.address().endpoint];
    CallHeader header;
    std::memcpy(&header, message.body.data(), sizeof header);
    if (header.what >= kFirstCompanionRequest) {
      thread.companion->Serve(message);
    } else {
      thread.server.Serve(message);
    }
  });
  fabric.SetHandler(kReplyHandler, [raw](Endpoint& endpoint, const Message& message) {
    raw->threads_[endpoint.address().endpoint]->worker.OnReply(message);
  });
  fabric.SetHandler(kEndedHandler, [raw](Endpoint& endpoint, const Message&) {
    if (--raw->threads_left_ > 0) return;
    for (NodeId node = 0; node < raw->cluster_.topology().nodes(); ++node) {
      for (std::uint32_t thread = 0; thread < raw->cluster_.threads(); ++thread) {
        endpoint.Send({node, thread}, kStopHandler, {});
      }
    }
  });
  fabric.SetHandler(kStopHandler, [raw](Endpoint& endpoint, const Message&) {
    raw->threads_[endpoint.address().endpoint]->stop = true;
  });
  SLIM_TRY(cluster.all().Barrier());
  return engine;
}

Result<Table*> Engine::AddTable(const TableSpec& spec) {
  const auto id = static_cast<TableId>(tables_.size());
  SLIM_ASSIGN(auto table, Table::Make(cluster_.fabric(), id, spec, protocol_.shape()));
  tables_.push_back(std::move(table));
  return tables_.back().get();
}

EndpointAddress Engine::ServerOf(const Table& table, Key key) const {
  // Other bits than those that choose the bucket.
  return {table.Home(key), static_cast<std::uint32_t>((Mix(key) >> 40) % threads_.size())};
}

bool Engine::over() const { return failed_ || NowNs() >= deadline_ns_; }

Status Engine::Run(const Body& body) {
  const Topology& topology = cluster_.topology();
  threads_left_ = topology.nodes() * cluster_.threads();
  figures_ = {};
  for (const auto& thread : threads_) {
    thread->figures = {};
    thread->stop = false;
  }
  // Nobody's first message comes before all of this.
  SLIM_TRY(cluster_.all().Barrier());
  SLIM_TRY(RunOnThreads(threads_.size(), [&](std::size_t thread) {
    return RunThread(static_cast<std::uint32_t>(thread), body);
  }));
  for (const auto& thread : threads_) figures_.Add(thread->figures);
  return cluster_.all().Barrier();
}

Status Engine::RunThread(std::uint32_t index, const Body& body) {
  Thread& thread = *threads_[index];
  Worker& worker = thread.worker;
  worker.background = [&thread] {
    const bool waits = thread.server.TryWaiting();
    if (thread.companion) return thread.companion->Work();
    return waits ? kLookAgain : std::chrono::nanoseconds(0);
  };
  if (cluster_.computes()) {
    for (std::uint32_t i = 0; i < options_.coroutines; ++i) {
      worker.AddTask([this, index, &body](Task& task) {
        {
          Transaction transaction(*this, task, index);
          body(transaction);
          transaction.Drain();
        }
        Leave(task);
      });
    }
  }
  return worker.Run(thread.stop, [&] { worker.endpoint().Send({0, 0}, kEndedHandler, {}); });
}

// Requests that nobody waits for may still be on their way. Those that are awaited overtake none.
void Engine::Leave(Task& task) {
  Pending pending;
  std::deque<Call> calls;
  for (NodeId node = 0; node < cluster_.topology().nodes(); ++node) {
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
      if (node == self()) continue;
      Call& call = calls.emplace_back();
      call.to = {node, thread};
      const CallHeader header{.what = kNothingRequest};
      call.request.resize(sizeof header);
      std::memcpy(call.request.data(), &header, sizeof header);
      task.worker().Send(call, &pending);
    }
  }
  task.Await(pending);
}

}  // namespace slimgraph::txn
