// How the memory of a thread that extends embeddings is divided: into scratch lists, and the chunks
// of the levels. A chunk has records, the sets made for them, and the lists fetched for them.
#pragma once

#include "dkudu/internal/graph/fetched_lists.h"
#include "dkudu/plan/plan.h"

namespace slimgraph::dkudu {

// The capacity of one chunk of a level.
struct ChunkRoom {
  std::uint64_t records = 1;
  std::uint64_t set_elements = 0;
  ListRoom lists;

  // As much as fits into `bytes`, but at least one record with the longest lists of the graph.
  static ChunkRoom Within(std::uint64_t bytes, const MiningGraph& graph, const PlanLevel& level);
  std::uint64_t Bytes(const MiningGraph& graph, const PlanLevel& level) const;
  // The memory used by at most `most.records` records with their sets and lists.
  std::uint64_t BytesTaken(const MiningGraph& graph, const PlanLevel& level,
                           const ChunkRoom& most) const;
};

// Whether the level fetches lists, so that a second chunk is useful while it waits.
inline bool FetchesLists(const MiningGraph& graph, const PlanLevel& level) {
  return graph.nodes() > 1 && level.needs_list;
}

// The memory of each chunk; all chunks of all levels get the same.
std::uint64_t BytesOfChunk(std::uint64_t bytes, const MiningGraph& graph, const Plan& plan);
std::uint64_t LeastExtenderBytes(const MiningGraph& graph, const Plan& plan);
// The most memory that an extender with a budget of `bytes` uses.
std::uint64_t ExtenderBytes(std::uint64_t bytes, const MiningGraph& graph, const Plan& plan);

}  // namespace slimgraph::dkudu
