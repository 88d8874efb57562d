#include "dkudu/kernel/chunk_room.h"

#include <algorithm>

namespace slimgraph {
namespace {

// A vertex, its parent and a ticket, its list, and its sets.
std::uint64_t BytesOfRecord(const PlanLevel& level) {
  return 3 * sizeof(std::uint32_t) + (1 + level.sets.size()) * sizeof(List);
}

// Sets that are not lists of the graph.
std::uint64_t MadeSets(const PlanLevel& level) {
  const auto made = std::count_if(level.sets.begin(), level.sets.end(), [](const SetStep& step) {
    return step.operation != SetOperation::kList;
  });
  return static_cast<std::uint64_t>(made);
}

std::uint64_t Chunks(const MiningGraph& graph, const Plan& plan) {
  std::uint64_t chunks = 0;
  for (unsigned i = 0; i < plan.listed(); ++i) chunks += BringsLists(graph, plan.levels[i]) ? 2 : 1;
  return chunks;
}

// For the sets of the last levels, which are made for one embedding after the other.
std::uint64_t ScratchBytes(const MiningGraph& graph, const Plan& plan) {
  std::uint64_t lists = 1 + plan.suffix.classes.size();
  for (const Suffix::Meeting& meeting : plan.suffix.meetings) lists += meeting.listed ? 1 : 0;
  return lists * (graph.sums().most + kSetSlack) * sizeof(VertexId);
}

}  // namespace

std::uint64_t ChunkRoom::Bytes(const MiningGraph& graph, const PlanLevel& level) const {
  const std::uint64_t lists_bytes = BringsLists(graph, level) ? lists.Bytes(graph) : 0;
  return records * BytesOfRecord(level) + (set_elements + kSetSlack) * sizeof(VertexId) +
         lists_bytes;
}

ChunkRoom ChunkRoom::Within(std::uint64_t bytes, const MiningGraph& graph, const PlanLevel& level) {
  const std::uint64_t made_sets = MadeSets(level);
  ChunkRoom room{.set_elements = made_sets * graph.sums().most,
                 .lists = ListRoom::Within(0, graph)};
  const std::uint64_t least = room.Bytes(graph, level);
  if (bytes <= least) return room;
  const std::uint64_t set_shares = made_sets > 0 ? 1 : 0;
  const std::uint64_t list_shares = BringsLists(graph, level) ? 2 : 0;
  const std::uint64_t share = (bytes - least) / (1 + set_shares + list_shares);
  room.records += share / BytesOfRecord(level);
  room.set_elements += set_shares * share / sizeof(VertexId);
  if (list_shares > 0) {
    room.lists = ListRoom::Within(room.lists.Bytes(graph) + list_shares * share, graph);
  }
  return room;
}

std::uint64_t BytesOfChunk(std::uint64_t bytes, const MiningGraph& graph, const Plan& plan) {
  const std::uint64_t scratch_bytes = ScratchBytes(graph, plan);
  return bytes <= scratch_bytes ? 0 : (bytes - scratch_bytes) / Chunks(graph, plan);
}

std::uint64_t LeastExtenderBytes(const MiningGraph& graph, const Plan& plan) {
  std::uint64_t most = 0;
  for (unsigned i = 0; i < plan.listed(); ++i) {
    const PlanLevel& level = plan.levels[i];
    most = std::max(most, ChunkRoom::Within(0, graph, level).Bytes(graph, level));
  }
  return ScratchBytes(graph, plan) + most * Chunks(graph, plan);
}

}  // namespace slimgraph
