// How much memory a job needs on each node, told before anything is loaded, and whether this
// machine has it: a job that cannot fit is refused, not killed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/graph/graph_source.h"
#include "slimgraph/graph/partition.h"

namespace slimgraph {

// What of the graph a job keeps in memory.
struct GraphNeeds {
  bool out_lists = true;
  bool in_lists = false;  // of a directed graph; an undirected one has them in its out lists
  bool weights = false;
};

// The vertices and arcs of one part, in each direction.
struct PartSize {
  VertexId vertices = 0;
  EdgeOffset out_arcs = 0;
  EdgeOffset in_arcs = 0;
};

// Sizes by node, all from one pass over the offsets.
template <typename Partition>
Result<std::vector<PartSize>> PartSizes(const GraphSource& file, const Partition& partition,
                                        const GraphNeeds& needs);

struct MemoryPlan {
  std::vector<std::uint64_t> node_bytes;  // by node: the most that its process will hold
  // Of these, by node, or empty: pages of other nodes that a process maps, and so holds as well.
  std::vector<std::uint64_t> mapped_bytes = {};
  std::uint64_t held_bytes = 0;    // of these, by each process: what it holds already
  const char* what = "the graph";  // that it is the memory of

  std::uint64_t largest() const;
  std::uint64_t total() const;  // each page once
  // What node `node` will take besides.
  std::uint64_t more_bytes(NodeId node) const;
};

// The lists exactly, as LoadLists fills them: offsets, neighbours and weights of every node.
MemoryPlan PlanMemory(const GraphSource& file, const std::vector<PartSize>& parts,
                      const GraphNeeds& needs);

// "memory for the graph: 1.2 GiB on the fullest of 4 nodes, 4.6 GiB in all", to be told before
// loading.
std::string Describe(const MemoryPlan& plan);

// What this process may still take: the free memory of the machine or the rest of its control
// group's limit, whichever is less.
std::uint64_t AvailableMemory();

// `bytes` more for `purpose` on this machine, or what is needed, what there is and what to do.
Status CheckMemory(std::uint64_t bytes, const std::string& purpose);

// The same for those nodes of the plan that run on this machine.
Status CheckFits(const MemoryPlan& plan, const std::vector<NodeId>& nodes_here);

}  // namespace slimgraph
