// How the memory of a thread that extends embeddings is dealt out: to scratch lists, and to the
// chunks of the levels, each with its records, the sets made for them and the lists brought.
#pragma once

#include "dkudu/graph/fetched_lists.h"
#include "dkudu/plan/plan.h"

namespace slimgraph {

// What one chunk of a level may come to.
struct ChunkRoom {
  std::uint64_t records = 1;
  std::uint64_t set_elements = 0;
  ListRoom lists;

  // At least for one record with the longest lists of the graph.
  static ChunkRoom Within(std::uint64_t bytes, const MiningGraph& graph, const PlanLevel& level);
  std::uint64_t Bytes(const MiningGraph& graph, const PlanLevel& level) const;
};

// Whether there is something to wait for while another chunk is worked on.
inline bool BringsLists(const MiningGraph& graph, const PlanLevel& level) {
  return graph.nodes() > 1 && level.needs_list;
}

// The chunks of each level get the same.
std::uint64_t BytesOfChunk(std::uint64_t bytes, const MiningGraph& graph, const Plan& plan);
std::uint64_t LeastExtenderBytes(const MiningGraph& graph, const Plan& plan);

}  // namespace slimgraph
