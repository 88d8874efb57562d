// The roles in a job of N nodes of which C compute: nodes 0 .. C-1 are compute nodes, the others
// are memory nodes. Each memory node has a delegate, the compute node that works for it. (D-Gemini
// may cut the parts of some memory nodes and divide them among several: WorkDivision.)
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// False if -DSLIMGRAPH_PLAIN builds engines without support for memory nodes, as a baseline for
// measurements. Code for memory nodes is not compiled then, and every node computes.
#ifdef SLIMGRAPH_PLAIN
inline constexpr bool kDelegates = false;
#else
inline constexpr bool kDelegates = true;
#endif

class Topology {
 public:
  // Returns an error unless 1 <= compute <= nodes <= kMaxNodes.
  static Result<Topology> Make(NodeId nodes, NodeId compute);

  NodeId nodes() const { return nodes_; }
  NodeId compute() const { return compute_; }
  bool is_compute(NodeId node) const { return node < compute_; }

  // The compute node that works for `node`; a compute node is its own delegate.
  NodeId delegate(NodeId node) const { return node % compute_; }

  // DSet(i) = { i + kC : k = 1, 2, … }: the memory nodes for which compute node i works.
  std::vector<NodeId> DelegationSet(NodeId compute_node) const;

 private:
  Topology(NodeId nodes, NodeId compute) : nodes_(nodes), compute_(compute) {}

  NodeId nodes_;
  NodeId compute_;
};

}  // namespace slimgraph
