// Computes how much memory a job needs on each node before anything is loaded, and checks that this
// machine has it. A job that does not fit gets an error instead of being killed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/files/graph_source.h"
#include "slimgraph/graph/partition.h"
#include "slimgraph/launch/quota.h"

namespace slimgraph {

// The parts of a graph that a job keeps in memory.
struct GraphNeeds {
  bool out_lists = true;
  bool in_lists = false;  // of a directed graph; in an undirected graph they equal the out lists
  bool weights = false;
};

// The vertices and arcs of one part, in each direction.
struct PartSize {
  VertexId vertices = 0;
  EdgeOffset out_arcs = 0;
  EdgeOffset in_arcs = 0;
};

// The size of each node's part, from one pass over the offsets.
template <typename Partition>
Result<std::vector<PartSize>> PartSizes(const GraphSource& file, const Partition& partition,
                                        const GraphNeeds& needs);

struct MemoryPlan {
  std::vector<std::uint64_t> node_bytes;  // by node: the peak memory of its process
  // By node, included in node_bytes: pages of other nodes' memory that its process maps. May be
  // empty.
  std::vector<std::uint64_t> mapped_bytes = {};
  std::uint64_t held_bytes = 0;    // included in each node_bytes: what a process already holds
  const char* what = "the graph";  // what the memory is for, for messages

  std::uint64_t largest() const;  // the largest node's bytes, without pages that it maps
  std::uint64_t total() const;    // of all nodes; a shared page counts once
  // What `node` will allocate in addition to what it already holds.
  std::uint64_t more_bytes(NodeId node) const;
};

// The exact bytes of the lists that LoadLists fills on each node: offsets, neighbours and weights.
MemoryPlan PlanMemory(const GraphSource& file, const std::vector<PartSize>& parts,
                      const GraphNeeds& needs);

// "the job takes 1.2 GiB on the largest of 4 nodes, 4.6 GiB in all", and how much of other nodes'
// memory a node maps. Printed before loading.
std::string Describe(const MemoryPlan& plan);

// Checks that the nodes on this machine fit into its memory, and each node into its limit and the
// job's quota. The error says what is needed, what is available and what to do.
Status CheckFits(const MemoryPlan& plan, const std::vector<NodeId>& nodes_here,
                 const Quota& quota = {});

}  // namespace slimgraph
