// Moments for snapshots and folds: at their time, all nodes have the same commits behind them.
#pragma once

#include <functional>
#include <mutex>

#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/cluster.h"
#include "txnlayer/graph/transactional_graph.h"

namespace slimgraph::txn {

// A graph makes only one snapshot or fold at a time, in the same order on all nodes. Node 0 decides
// the order.
class GraphTurn {
 public:
  // Collective, called by a thread of its own on each node. Blocks while another has the turn.
  // `cluster` belongs to the caller.
  static Result<GraphTurn> Take(Cluster& cluster, TransactionalGraph& graph);

 private:
  explicit GraphTurn(std::unique_lock<Mutex> lock) : lock_(std::move(lock)) {}
  std::unique_lock<Mutex> lock_;
};

struct Moment {
  GraphTime time = 0;   // later than all commits before, earlier than all after
  bool in_run = false;  // false: the run has ended, so the state is the final one
  double seconds = 0;   // for how long this node's commits, or all its transactions, had to wait
};

// Both are collective, called by the holder of the turn. They run `work` on all nodes with the
// moment's time, and nothing commits meanwhile.
using MomentWork = std::function<Status(GraphTime)>;
// Only commits wait (Engine::BetweenCommits). But the first moment after a death stops all, because
// it has to look at the tables for the latest time.
Result<Moment> BetweenCommits(Cluster& cluster, TransactionalGraph& graph, const MomentWork& work);
// No transaction is under way.
Result<Moment> StopTheWorld(Cluster& cluster, TransactionalGraph& graph, const MomentWork& work);

}  // namespace slimgraph::txn
