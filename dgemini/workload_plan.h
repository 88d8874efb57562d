// What a workload will take on each node, from the offsets in the file alone.
#pragma once

#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/memory_plan.h"
#include "slimgraph/graph/partition.h"
#include "slimgraph/remote/cache_options.h"

namespace slimgraph {

// What of the graph a program uses, besides the out lists.
struct WorkloadNeeds {
  bool weights = false;
  bool pull_in = false;   // pulls over in lists
  bool pull_out = false;  // pulls over out lists
  // For the announcement of memory, what the program's values and frontiers take: for each vertex
  // of the graph, and for each of a node's share.
  double vertex_bytes = 0;
  double share_bytes = 0;
  CacheOptions cache = {};
};

// Of the lists of one node and socket.
struct SlotSize {
  EdgeOffset arcs = 0;
  std::uint64_t coded_bytes = 0;
  EdgeOffset longest = 0;
  VertexId long_lists = 0;  // that the index keeps apart
};

struct WorkloadSizes {
  std::vector<SlotSize> slots[2];  // by direction, then node and socket; empty: not loaded
  const SlotSize& of(Direction direction, NodeId node, std::uint32_t socket,
                     std::uint32_t sockets) const {
    return slots[static_cast<int>(direction)][std::size_t{node} * sockets + socket];
  }
};

// Collective: each node tells of its own lists.
Result<WorkloadSizes> MeasureWorkload(Cluster& cluster, const GraphSource& file,
                                      const ChunkPartition& partition,
                                      const std::vector<Direction>& directions);

// All that the job will hold on each node while it loads and runs.
MemoryPlan PlanWorkload(Cluster& cluster, const GraphSource& file, const ChunkPartition& partition,
                        const WorkloadNeeds& needs, const WorkloadSizes& sizes);

// Refuses room for lists, given in bytes, that has none for the longest.
Status CheckEdgeBudget(const Topology& topology, const GraphSource& file,
                       const WorkloadNeeds& needs, const WorkloadSizes& sizes);

}  // namespace slimgraph
