// Computes the memory that a workload will take on each node, from the file's offsets alone.
#pragma once

#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/memory_plan.h"
#include "slimgraph/graph/partition.h"
#include "slimgraph/remote/cache_options.h"

namespace slimgraph::dgemini {

// What a program uses of the graph in addition to the out lists.
struct WorkloadNeeds {
  bool weights = false;
  bool pull_in = false;   // pulls over in lists
  bool pull_out = false;  // pulls over out lists
  // The memory of the program's values and frontiers, for the memory plan: bytes per vertex of the
  // graph, and bytes per vertex of a node's share.
  double vertex_bytes = 0;
  double share_bytes = 0;
  // The memory of each thread for a list that it pulls over, for each arc of the longest list.
  double list_bytes = 0;
  CacheOptions cache = {};
};

// The size of the lists of one node and socket.
struct SlotSize {
  EdgeOffset arcs = 0;
  std::uint64_t coded_bytes = 0;
  EdgeOffset longest = 0;
};

struct WorkloadSizes {
  std::vector<SlotSize> slots[2];  // by direction, then node and socket; empty if not loaded
  const SlotSize& of(Direction direction, NodeId node, std::uint32_t socket,
                     std::uint32_t sockets) const {
    return slots[static_cast<int>(direction)][std::size_t{node} * sockets + socket];
  }
};

// Collective: each node measures its own lists.
Result<WorkloadSizes> MeasureWorkload(Cluster& cluster, const GraphSource& file,
                                      const ChunkPartition& partition,
                                      const std::vector<Direction>& directions);

// The memory of the job on each node while it loads and runs.
MemoryPlan PlanWorkload(Cluster& cluster, const GraphSource& file, const ChunkPartition& partition,
                        const WorkloadNeeds& needs, const WorkloadSizes& sizes);

// An error if the edge cache's budget is given in bytes and is too small for the longest list.
Status CheckEdgeBudget(const Topology& topology, const GraphSource& file,
                       const WorkloadNeeds& needs, const WorkloadSizes& sizes);

}  // namespace slimgraph::dgemini
