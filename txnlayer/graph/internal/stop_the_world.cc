#include "txnlayer/graph/internal/stop_the_world.h"

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

// The time is later than all clocks, and than all that dead nodes have written. Afterwards all
// clocks are past it.
Result<WorldStop> StopTheWorld(Cluster& cluster, TransactionalGraph& graph,
                               const std::function<Status(GraphTime)>& work) {
  const std::uint64_t start_ns = NowNs();
  WorldStop stop;
  const auto choose = [&]() -> Status {
    std::array<std::uint64_t, 2> latest = {graph.LatestTime(), graph.engine().latest()};
    const auto later = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
    SLIM_TRY(cluster.all().AllReduce(std::span<std::uint64_t>(latest), later));
    stop.time = latest[0];
    graph.clock().Next(stop.time);
    graph.engine().AdvanceClocksPast(latest[1]);
    SLIM_TRY(work(stop.time));
    // No transaction begins before all nodes have done the work.
    return cluster.all().Barrier();
  };
  SLIM_ASSIGN(stop.in_run, graph.engine().StopTheWorld(cluster, choose));
  if (!stop.in_run) SLIM_TRY(choose());
  stop.seconds = SecondsSince(start_ns);
  return stop;
}

}  // namespace slimgraph::txn
