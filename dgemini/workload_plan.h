// Computes the memory that a workload will take on each node, from the file's offsets alone.
#pragma once

#include <vector>

#include "dgemini/internal/work_division.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/memory_plan.h"
#include "slimgraph/remote/cache_options.h"
#include "slimgraph/remote/served_lists.h"

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

// How many bitmaps of needed vertices there are (Workload::Reader): one for each compute node, and
// if memory nodes reduce, one for each node's own lists.
std::size_t WorkloadReaders(const Topology& topology, const CacheOptions& cache);

// The size of the lists of one slot.
struct SlotSize {
  EdgeOffset arcs = 0;
  std::uint64_t coded_bytes = 0;
  EdgeOffset longest = 0;
  PartBegin begin = {};  // where its lists begin in the home's regions, if several slots share them
};

struct WorkloadSizes {
  std::vector<SlotSize> slots[2];         // by direction, then slot; empty if not loaded
  std::vector<std::uint64_t> held_bytes;  // by node: what its process holds already
  bool standing = false;                  // the memory nodes' lists are there already
  bool summarized = false;                // and a summary of the out lists (StandingGraph)
  bool summary_suffices = false;          // no segment of it is cut between compute nodes
  const SlotSize& of(Direction direction, std::size_t slot) const {
    return slots[static_cast<int>(direction)][slot];
  }
};

// Collective: each node measures its own lists.
Result<WorkloadSizes> MeasureWorkload(Cluster& cluster, const GraphSource& file,
                                      const WorkDivision& division,
                                      const std::vector<Direction>& directions);

// Collective: the sizes of all slots, from those of this node's slots, by direction and slot.
Result<WorkloadSizes> GatherSizes(Cluster& cluster, const WorkDivision& division,
                                  const std::vector<Direction>& directions,
                                  const std::vector<SlotSize>& mine);

// The memory of the job on each node while it loads and runs.
MemoryPlan PlanWorkload(Cluster& cluster, const GraphSource& file, const WorkDivision& division,
                        const WorkloadNeeds& needs, const WorkloadSizes& sizes);

// An error if the edge cache's budget is given in bytes and is too small for the longest list.
Status CheckEdgeBudget(const Topology& topology, const GraphSource& file,
                       const WorkDivision& division, const WorkloadNeeds& needs,
                       const WorkloadSizes& sizes);

}  // namespace slimgraph::dgemini
