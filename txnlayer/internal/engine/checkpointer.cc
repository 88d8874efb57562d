#include "txnlayer/internal/engine/checkpointer.h"

#include <algorithm>
#include <chrono>

#include "slimgraph/base/sync.h"
#include "txnlayer/engine.h"
#include "txnlayer/internal/durability/durability.h"

namespace slimgraph::txn {
namespace {

// How often the length of the logs is checked.
constexpr std::chrono::milliseconds kCheckInterval{10};
// The control plane's channel for exchanges of checkpoints. Folds use it too, but an engine does
// not have both.
constexpr std::uint32_t kPartTag = 1;

}  // namespace

Checkpointer::~Checkpointer() {
  if (thread_.joinable()) thread_.join();
}

void Checkpointer::Start() {
  engine_.ExpectRun();
  thread_ = Thread([this] { done_ = Work(); });
}

Status Checkpointer::Finish() {
  if (thread_.joinable()) thread_.join();
  return done_;
}

Status Checkpointer::Work() {
  Job& whole = engine_.cluster().job();
  SLIM_TRY(whole.RunAmongSurvivors(kPartTag, [&](Job& part) {
    Status done = WorkAmong(part);
    if (!done && part.AbortPart(done.error())) whole.Fail(done.error());
    cluster_.reset();
    return done;
  }));
  return {};
}

Status Checkpointer::WorkAmong(Job& job) {
  ClusterOptions options = engine_.cluster().OptionsForAnother();
  options.threads = 1;
  options.serving_threads = 0;
  SLIM_ASSIGN(cluster_, Cluster::Start(job, options));
  for (bool over = false; !over;) {
    SLIM_ASSIGN(const bool is_long, LogsAreLong(over));
    if (is_long) SLIM_TRY(Checkpoint());
  }
  return cluster_->Stop();
}

// `over`: the run has ended on all nodes.
Result<bool> Checkpointer::LogsAreLong(bool& over) {
  const bool ended = engine_.AwaitRunEnd(kCheckInterval);
  std::uint64_t used = 0;
  for (TableId id = 0; id < engine_.tables().size(); ++id)
    used += engine_.tables()[id].used_bytes();
  std::uint64_t sums[] = {engine_.durability()->commit_bytes(), used, ended ? 1U : 0U};
  SLIM_TRY(cluster_->all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
  over = sums[2] == cluster_->topology().nodes();
  return sums[0] > std::max(least_bytes_, sums[1]);
}

Status Checkpointer::Checkpoint() {
  Durability& logs = *engine_.durability();
  bool taken = false;
  const auto paused = engine_.StopTheWorld(*cluster_, [&] { return SwitchLogs(taken); });
  if (!taken) logs.DiscardNext();
  if (!paused) return tl::unexpected(paused.error());
  if (!taken) return {};
  ++checkpoints_;
  return logs.RemovePrevious();
}

// The next logs are valid once the first node has switched to its own. By then they are complete on
// all nodes, also on those that have died since. If a node dies, either all survivors switch or
// none does. If the job fails, this node may not learn whether another has switched.
Status Checkpointer::SwitchLogs(bool& taken) {
  Durability& logs = *engine_.durability();
  SLIM_TRY(logs.BeginNext(cluster_->all()));
  SLIM_TRY(logs.AddTablesToNext(engine_.tables()));
  SLIM_TRY(logs.CompleteNext({}, 0));
  const Result<bool> all = cluster_->job().AllReached();
  if (!all) {
    logs.StopInDoubt();
    return tl::unexpected<Error>(all.error());
  }
  if (!*all) return EnvironmentError("a checkpoint was given up because a node has died");
  taken = true;
  const Status switched = logs.SwitchToNext();
  if (!switched) {
    engine_.cluster().job().Fail(switched.error());  // even if a node has died meanwhile
    return switched;
  }
  return cluster_->all().Barrier();
}

}  // namespace slimgraph::txn
