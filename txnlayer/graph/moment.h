// Moments at which no transaction is under way, as snapshots and folds want them.
#pragma once

#include <functional>
#include <mutex>

#include "slimgraph/cluster/cluster.h"
#include "txnlayer/graph/transactional_graph.h"

namespace slimgraph::txn {

// Of a graph, one snapshot or fold is made at a time, on all nodes the same. Which one, node 0
// says.
class GraphTurn {
 public:
  // Collective, from threads of their own; waits for whoever has the turn. `cluster` is theirs.
  static Result<GraphTurn> Take(Cluster& cluster, TransactionalGraph& graph);

 private:
  explicit GraphTurn(std::unique_lock<std::mutex> lock) : lock_(std::move(lock)) {}
  std::unique_lock<std::mutex> lock_;
};

struct Moment {
  GraphTime time = 0;   // later than all that has committed, earlier than all that will
  bool in_run = false;  // transactions were running, or their end is the last state there is
  double seconds = 0;   // until transactions could begin again, on this node
};

// Collective, by whoever has the turn: at a moment at which no transaction is under way `work` runs
// on all nodes, with the moment's time; whoever begins after it is younger than all before.
Result<Moment> AtMoment(Cluster& cluster, TransactionalGraph& graph,
                        const std::function<Status(GraphTime)>& work);

}  // namespace slimgraph::txn
