#include "txnlayer/graph/moment.h"

#include <algorithm>
#include <array>

#include "slimgraph/base/clock.h"

namespace slimgraph::txn {

// The others come when node 0's barrier lets them, and there nobody has the turn any more but who
// has nothing to do but to give it back.
Result<GraphTurn> GraphTurn::Take(Cluster& cluster, TransactionalGraph& graph) {
  std::unique_lock lock(graph.turn(), std::defer_lock);
  if (cluster.self() == 0) lock.lock();
  SLIM_TRY(cluster.all().Barrier());
  if (!lock.owns_lock()) lock.lock();
  return GraphTurn(std::move(lock));
}

// The time: the latest of all clocks, past which all are pulled.
Result<Moment> AtMoment(Cluster& cluster, TransactionalGraph& graph,
                        const std::function<Status(GraphTime)>& work) {
  const std::uint64_t start_ns = NowNs();
  Moment moment;
  const auto choose = [&]() -> Status {
    std::array<std::uint64_t, 2> latest = {graph.clock().Next(), graph.engine().latest()};
    const auto later = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
    SLIM_TRY(cluster.all().AllReduce(std::span<std::uint64_t>(latest), later));
    moment.time = latest[0];
    graph.clock().Next(moment.time);
    graph.engine().StartAfter(latest[1]);
    SLIM_TRY(work(moment.time));
    // Nobody begins before all are through.
    return cluster.all().Barrier();
  };
  SLIM_ASSIGN(moment.in_run, graph.engine().Pause(cluster, choose));
  if (!moment.in_run) SLIM_TRY(choose());
  moment.seconds = SecondsSince(start_ns);
  return moment;
}

}  // namespace slimgraph::txn
