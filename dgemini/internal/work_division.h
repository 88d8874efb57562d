// Which compute node works on which vertices. Compute nodes work on their own parts, and on those
// of memory nodes. If their numbers of memory nodes would differ, the parts of the last memory
// nodes are cut into pieces of equal cost, so that all compute nodes have equally much to do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "slimgraph/cluster/topology.h"
#include "slimgraph/graph/partition.h"
#include "slimgraph/remote/cache_options.h"

namespace slimgraph::dgemini {

// Consecutive vertices of one node and socket, for which one compute node works.
struct WorkSlot {
  NodeId home;
  std::uint32_t socket;
  NodeId worker;
  VertexPart part;
};

class WorkDivision {
 public:
  // Into how many pieces the partition must cut each node and socket.
  static std::uint32_t Pieces(const Topology& topology, Delegation delegation);

  WorkDivision() = default;
  // `pieces` is Pieces(); the partition has so many slots for each of `sockets` sockets.
  WorkDivision(const ChunkPartition& partition, const Topology& topology, std::uint32_t sockets,
               std::uint32_t pieces);

  // Of a graph that stands in a pool. Compute nodes have no part of their own; the memory nodes
  // have `parts`, in order. Compute node c works on the vertices cuts[c] .. cuts[c + 1]-1.
  static WorkDivision OfStandingGraph(const Topology& topology, const ChunkPartition& partition,
                                      std::span<const VertexId> cuts);

  // In the order of their vertices; those of a home are consecutive.
  const std::vector<WorkSlot>& slots() const { return slots_; }
  std::size_t begin_of(NodeId home) const { return begin_[home]; }
  std::size_t end_of(NodeId home) const { return begin_[home + 1]; }
  std::size_t count_of(NodeId home) const { return end_of(home) - begin_of(home); }
  // How many bitmaps say which vertices are in a home's lists: one for each slot, if several
  // compute nodes work for it.
  std::size_t marks_of(NodeId home) const;
  // The most slots of a memory node.
  std::size_t most_of_memory_nodes(const Topology& topology) const;
  bool has_remote(NodeId worker) const;

 private:
  std::vector<WorkSlot> slots_;
  std::vector<std::size_t> begin_;  // by home
};

}  // namespace slimgraph::dgemini
