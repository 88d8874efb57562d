// Moments at which no transaction is under way. Snapshots and folds need them.
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

struct WorldStop {
  GraphTime time = 0;   // later than all commits before, earlier than all after
  bool in_run = false;  // false: the run has ended, so the state is the final one
  double seconds = 0;   // how long transactions were stopped on this node
};

// Collective, called by the holder of the turn. Stops all transactions and runs `work` on all nodes
// with the moment's time. Transactions that begin afterwards have later times.
Result<WorldStop> StopTheWorld(Cluster& cluster, TransactionalGraph& graph,
                               const std::function<Status(GraphTime)>& work);

}  // namespace slimgraph::txn
