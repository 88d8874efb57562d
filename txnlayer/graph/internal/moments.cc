#include "txnlayer/graph/internal/moments.h"

#include <algorithm>
#include <array>

#include "slimgraph/base/clock.h"

namespace slimgraph::txn {

// Node 0 takes its lock before the barrier, the others after it. The previous holder has then
// finished its work everywhere, so the others wait at most until it unlocks.
Result<GraphTurn> GraphTurn::Take(Cluster& cluster, TransactionalGraph& graph) {
  std::unique_lock lock(graph.turn(), std::defer_lock);
  if (cluster.self() == 0) lock.lock();
  SLIM_TRY(cluster.all().Barrier());
  if (!lock.owns_lock()) lock.lock();
  return GraphTurn(std::move(lock));
}

namespace {

// The latest times and timestamps of all nodes. `over`: whether the run is over on any of them.
// Then no transaction is under way anywhere.
struct Latest {
  GraphTime time = 0;
  Timestamp timestamp = 0;
  bool over = false;

  static Result<Latest> Find(Cluster& cluster, GraphTime time, Timestamp timestamp, bool over) {
    std::array<std::uint64_t, 3> latest = {time, timestamp, over ? 1U : 0U};
    const auto later = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
    SLIM_TRY(cluster.all().AllReduce(std::span<std::uint64_t>(latest), later));
    return Latest{latest[0], latest[1], latest[2] != 0};
  }
};

}  // namespace

Result<Moment> BetweenCommits(Cluster& cluster, TransactionalGraph& graph, const MomentWork& work) {
  graph.engine().AwaitSheltered(cluster);
  SLIM_ASSIGN(const int death, cluster.all().AllMax(graph.HasSeenAllDeaths(cluster) ? 0 : 1));
  if (death != 0) return StopTheWorld(cluster, graph, work);
  Moment moment;
  const auto choose = [&](Timestamp timestamp, bool over) -> Result<Timestamp> {
    SLIM_ASSIGN(const Latest latest, Latest::Find(cluster, graph.clock().Next(), timestamp, over));
    moment.time = latest.time;
    moment.in_run = !latest.over;
    graph.clock().Next(moment.time);
    SLIM_TRY(work(moment.time));
    return latest.timestamp;
  };
  SLIM_ASSIGN(moment.seconds, graph.engine().BetweenCommits(cluster, choose));
  return moment;
}

// The time is later than all clocks, and than all that dead nodes have written. Afterwards all
// clocks are past it.
Result<Moment> StopTheWorld(Cluster& cluster, TransactionalGraph& graph, const MomentWork& work) {
  const std::uint64_t start_ns = NowNs();
  Moment moment;
  const auto choose = [&]() -> Status {
    SLIM_ASSIGN(const Latest latest,
                Latest::Find(cluster, graph.LatestTime(), graph.engine().latest(), /*over=*/false));
    moment.time = latest.time;
    graph.clock().Next(moment.time);
    graph.engine().AdvanceClocksPast(latest.timestamp);
    SLIM_TRY(work(moment.time));
    // No transaction begins before all nodes have done the work.
    return cluster.all().Barrier();
  };
  SLIM_ASSIGN(moment.in_run, graph.engine().StopTheWorld(cluster, choose));
  if (!moment.in_run) SLIM_TRY(choose());
  moment.seconds = SecondsSince(start_ns);
  return moment;
}

}  // namespace slimgraph::txn
