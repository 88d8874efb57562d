#include "dkudu/internal/kernel/chunk_room.h"

#include <algorithm>
#include <limits>

#include "dkudu/internal/kernel/root_task.h"

namespace slimgraph::dkudu {
namespace {

// A chunk may have this much in any graph, however small.
constexpr std::uint64_t kSmallChunkBytes = 1 << 20;

// A vertex, its parent, a ticket, its list, and its sets.
std::uint64_t BytesOfRecord(const PlanLevel& level) {
  return 3 * sizeof(std::uint32_t) + (1 + level.sets.size()) * sizeof(List);
}

// The number of sets that are not lists of the graph.
std::uint64_t MadeSets(const PlanLevel& level) {
  const auto made = std::count_if(level.sets.begin(), level.sets.end(), [](const SetStep& step) {
    return step.operation != SetOperation::kList;
  });
  return static_cast<std::uint64_t>(made);
}

std::uint64_t Chunks(const MiningGraph& graph, const Plan& plan) {
  std::uint64_t chunks = 0;
  for (unsigned i = 0; i < plan.listed(); ++i)
    chunks += FetchesLists(graph, plan.levels[i]) ? 2 : 1;
  return chunks;
}

// The most that a chunk ever contains: on level 0 the roots of a task, on level 1 their neighbours,
// and above that as much as it has room for.
ChunkRoom MostInChunk(const MiningGraph& graph, const PlanLevel& level, unsigned number) {
  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t of_task = MostTaskNeighbours(graph);
  if (number == 0) return {RootTask::kMaxRoots, kAny, {RootTask::kMaxRoots, of_task}};
  if (number > 1) return {kAny, kAny, {kAny, kAny}};
  const std::uint64_t records =
      level.above == 0 ? of_task : std::min(of_task, RootTask::kMaxRoots * graph.sums().most_above);
  return {records, kAny, {records, kAny}};
}

// Memory for the sets of the last levels, which are made for one embedding at a time.
std::uint64_t ScratchBytes(const MiningGraph& graph, const Plan& plan) {
  std::uint64_t lists = 1 + plan.suffix.classes.size();
  for (const Suffix::Intersection& intersection : plan.suffix.intersections)
    lists += intersection.listed ? 1 : 0;
  return lists * (graph.sums().most + kSetSlack) * sizeof(VertexId);
}

}  // namespace

std::uint64_t ChunkRoom::Bytes(const MiningGraph& graph, const PlanLevel& level) const {
  const std::uint64_t lists_bytes = FetchesLists(graph, level) ? lists.Bytes(graph) : 0;
  return records * BytesOfRecord(level) + (set_elements + kSetSlack) * sizeof(VertexId) +
         lists_bytes;
}

std::uint64_t ChunkRoom::BytesTaken(const MiningGraph& graph, const PlanLevel& level,
                                    const ChunkRoom& most) const {
  const std::uint64_t taken = std::min(records, most.records);
  // None of a record's sets is longer than the longest list.
  const std::uint64_t elements =
      std::min(set_elements, taken * MadeSets(level) * graph.sums().most);
  return taken * BytesOfRecord(level) + (elements + kSetSlack) * sizeof(VertexId) +
         (FetchesLists(graph, level) ? lists.BytesTaken(graph, most.lists) : 0);
}

ChunkRoom ChunkRoom::Within(std::uint64_t bytes, const MiningGraph& graph, const PlanLevel& level) {
  const std::uint64_t made_sets = MadeSets(level);
  ChunkRoom room{.set_elements = made_sets * graph.sums().most,
                 .lists = ListRoom::Within(0, graph)};
  const std::uint64_t least = room.Bytes(graph, level);
  if (bytes <= least) return room;
  const std::uint64_t set_shares = made_sets > 0 ? 1 : 0;
  const std::uint64_t list_shares = FetchesLists(graph, level) ? 2 : 0;
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
  if (bytes <= scratch_bytes) return 0;
  // In a small graph, chunks of more than half of its lists would not reduce the traffic any more.
  const std::uint64_t list_bytes = graph.arcs() * sizeof(VertexId);
  return std::min((bytes - scratch_bytes) / Chunks(graph, plan),
                  std::max(kSmallChunkBytes, list_bytes / 2));
}

std::uint64_t ExtenderBytes(std::uint64_t bytes, const MiningGraph& graph, const Plan& plan) {
  const std::uint64_t of_chunk = BytesOfChunk(bytes, graph, plan);
  std::uint64_t taken = std::min(bytes, ScratchBytes(graph, plan));
  for (unsigned i = 0; i < plan.listed(); ++i) {
    const PlanLevel& level = plan.levels[i];
    const ChunkRoom room = ChunkRoom::Within(of_chunk, graph, level);
    const std::uint64_t chunks = FetchesLists(graph, level) ? 2 : 1;
    taken += chunks * room.BytesTaken(graph, level, MostInChunk(graph, level, i));
  }
  return taken;
}

std::uint64_t LeastExtenderBytes(const MiningGraph& graph, const Plan& plan) {
  std::uint64_t most = 0;
  for (unsigned i = 0; i < plan.listed(); ++i) {
    const PlanLevel& level = plan.levels[i];
    most = std::max(most, ChunkRoom::Within(0, graph, level).Bytes(graph, level));
  }
  return ScratchBytes(graph, plan) + most * Chunks(graph, plan);
}

}  // namespace slimgraph::dkudu
