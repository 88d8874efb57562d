#include "slimgraph/cluster/topology.h"

namespace slimgraph {

Result<Topology> Topology::Make(NodeId nodes, NodeId compute) {
  if (nodes < 1 || nodes > kMaxNodes) {
    return UsageError("--nodes {} is out of range: a job has 1..{} nodes", nodes, kMaxNodes);
  }
  if (compute < 1 || compute > nodes) {
    return UsageError("--compute {} is out of range: of {} node{}, 1..{} can compute{}", compute,
                      nodes, nodes == 1 ? "" : "s", nodes,
                      nodes == 1 ? "; --nodes N takes more nodes" : "");
  }
  if (!kDelegates && compute != nodes) {
    return UsageError("--compute {} of {} nodes: this engine was built without memory nodes",
                      compute, nodes);
  }
  return Topology(nodes, compute);
}

std::vector<NodeId> Topology::DelegationSet(NodeId compute_node) const {
  std::vector<NodeId> set;
  for (NodeId node = compute_node + compute_; node < nodes_; node += compute_) set.push_back(node);
  return set;
}

}  // namespace slimgraph
