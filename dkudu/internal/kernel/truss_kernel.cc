#include "dkudu/internal/kernel/truss_kernel.h"

#include <algorithm>
#include <limits>

#include "slimgraph/base/check.h"

namespace slimgraph::dkudu {
namespace {

using Bound = ArcValues::Value;

// The mark of a neighbour whose edge to the root has no bound yet.
constexpr Bound kNoBoundYet = std::numeric_limits<Bound>::max();

// Many lists are short, and the room of the longest one suffices for the neighbours of many. So
// even with the least memory, this many may be fetched at a time.
constexpr std::uint64_t kLeastLists = 64;
constexpr std::uint64_t kBytesOfShortLists = kLeastLists * 320;

std::uint64_t RootValueBytes(const MiningGraph& graph) {
  return MostTaskNeighbours(graph) * sizeof(Bound) + RootTask::kMaxRoots * ArcReader::kBytesPerList;
}

// Each changed edge has two values, and a task is run while another one's values fit.
std::size_t WriterRoom(const MiningGraph& graph) { return 4 * MostTaskNeighbours(graph); }

}  // namespace

TrussRoom::TrussRoom(const MiningGraph& graph, std::uint64_t chunk_bytes) {
  const std::uint64_t least = TrussKernel::LeastBytes(graph);
  const std::uint64_t more = chunk_bytes - std::min(chunk_bytes, least);
  list_bytes = LeastKernelBytes(graph) - RootLists::Bytes(graph) + kBytesOfShortLists + more / 2;
  values = graph.sums().most + more / 4 / sizeof(Bound);
  lower_lists = kLeastLists + more / 4 / kBytesPerList;
}

std::uint64_t TrussKernel::LeastBytes(const MiningGraph& graph) {
  return LeastKernelBytes(graph) + RootValueBytes(graph) + graph.sums().most * sizeof(Bound) +
         kBytesOfShortLists + kLeastLists * TrussRoom::kBytesPerList;
}

std::uint64_t TrussKernel::Bytes(const MiningGraph& graph, std::uint64_t chunk_bytes) {
  const TrussRoom room(graph, chunk_bytes);
  const std::uint64_t neighbours = MostTaskNeighbours(graph);
  return RootLists::Bytes(graph) + RootValueBytes(graph) +
         NeighbourLists::BytesTaken(graph, room.list_bytes, neighbours) +
         ArcReader::Bytes(graph, room.values) +
         std::min(room.lower_lists, neighbours) * TrussRoom::kBytesPerList +
         graph.vertices() * sizeof(Bound) + (graph.sums().most + 1) * sizeof(std::uint32_t) +
         ArcWriter::Bytes(WriterRoom(graph));
}

TrussKernel::TrussKernel(MiningJob& job, std::uint32_t thread, ListCache* cache,
                         std::uint64_t chunk_bytes, TrussRun& run)
    : graph_(job.graph),
      run_(run),
      task_neighbours_(MostTaskNeighbours(job.graph)),
      roots_(job.graph, job.lists.fetch(thread), cache, job.options.reuse),
      root_values_(run.values, job.cluster.fabric().endpoint(thread), task_neighbours_),
      lists_(job.graph, job.lists.fetch(thread), cache, job.options.reuse,
             TrussRoom(job.graph, chunk_bytes).list_bytes, task_neighbours_),
      lower_values_(run.values, job.cluster.fabric().endpoint(thread),
                    TrussRoom(job.graph, chunk_bytes).values),
      writer_(run.values, job.cluster.fabric().endpoint(thread), WriterRoom(job.graph)),
      lower_lists_(TrussRoom(job.graph, chunk_bytes).lower_lists),
      mark_(job.graph.vertices()),
      counts_(job.graph.sums().most + 1) {
  static_assert(sizeof(Wanted) <= 8);
}

Status TrussKernel::FetchRoots(const RootTask& task) {
  flagged_.clear();
  for (VertexId i = 0; i < task.count; ++i) {
    const VertexId root = task.root(i, graph_);
    if (run_.visits_all() || run_.flags.of(root) != 0) flagged_.push_back(root);
  }
  SLIM_TRY(roots_.Fetch(flagged_));
  root_values_.Clear();
  for (const VertexId root : flagged_) root_values_.Add(root);
  return root_values_.Fetch();
}

Status TrussKernel::Run(const RootTask& task) {
  SLIM_TRY(FetchRoots(task));
  for (std::size_t r = 0; r < flagged_.size(); ++r) {
    const RootLists::Root root = roots_.Get(r);
    Piece piece{root, root_values_.Get(r), wanted_.size(), 0};
    for (std::uint32_t i = 0; i < root.list.size() && root.list[i] < root.v; ++i) {
      const VertexId lower = root.list[i];
      const Bound bound = BoundOf(piece.values[i], lower);
      if (!run_.visits_all() && !run_.flags.is_set(root.v, bound)) continue;
      if (!HasRoomFor(lower)) {
        piece.last = wanted_.size();
        pieces_.push_back(piece);
        SLIM_TRY(ScanPieces());
        piece.first = 0;
      }
      const FetchedLists::Ticket ticket = lists_.Add(lower);
      if (ticket == lower_values_.size()) lower_values_.Add(lower);
      wanted_.push_back({i, ticket});
    }
    piece.last = wanted_.size();
    if (piece.first < piece.last) pieces_.push_back(piece);
  }
  return ScanPieces();
}

Status TrussKernel::ScanPieces() {
  SLIM_TRY(lists_.Fetch(lower_values_));
  for (const Piece& piece : pieces_) {
    const List neighbours = piece.root.list;
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      mark_[neighbours[i]] = piece.values[i] == 0 ? kNoBoundYet : piece.values[i];
    }
    for (std::size_t at = piece.first; at < piece.last; ++at) {
      Visit(piece, wanted_[at], lists_.Get(at), lower_values_.Get(wanted_[at].lower));
    }
    for (const VertexId v : neighbours) mark_[v] = 0;
  }
  pieces_.clear();
  wanted_.clear();
  lists_.Clear();
  lower_values_.Clear();
  return {};
}

void TrussKernel::Visit(const Piece& piece, const Wanted& wanted, List list,
                        ArcValues::Values values) {
  const VertexId root = piece.root.v;
  const VertexId lower = piece.root.list[wanted.i];
  const Bound before = BoundOf(piece.values[wanted.i], lower);
  const Bound after = Lower(before, list, values);
  if (after + 1 == piece.values[wanted.i]) return;
  ++changes_;
  mark_[lower] = after + 1;
  writer_.Add(root, wanted.i, after + 1);
  const auto at = std::lower_bound(list.begin(), list.end(), root) - list.begin();
  SLIM_CHECK(at < std::ssize(list) && list[static_cast<std::size_t>(at)] == root,
             "the list of {} lacks {}", lower, root);
  writer_.Add(lower, static_cast<std::size_t>(at), after + 1);
  if (run_.round > 1) FlagLowered(root, lower, before, after, list, values);
}

// Most edges keep their bound, so that is examined first.
TrussKernel::Value TrussKernel::Lower(Value bound, List list, ArcValues::Values values) {
  // The bound of a triangle is the lesser one of its other edges'. In unsigned numbers, 0 - 1 is
  // larger than all others.
  const auto of_triangle = [&](std::size_t i) {
    return std::min(mark_[list[i]] - 1, values[i] - 1);
  };
  Value enough = 0;
  for (std::size_t i = 0; i < list.size() && enough < bound; ++i) {
    if (mark_[list[i]] != 0 && of_triangle(i) >= bound) ++enough;
  }
  if (enough == bound) return bound;
  std::fill_n(counts_.begin(), bound + 1, 0);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (mark_[list[i]] != 0) ++counts_[std::min(of_triangle(i), bound)];
  }
  for (std::uint32_t triangles = 0; bound > 0; --bound) {
    triangles += counts_[bound];
    if (triangles >= bound) break;
  }
  return bound;
}

void TrussKernel::FlagLowered(VertexId root, VertexId lower, Value before, Value after, List list,
                              ArcValues::Values values) {
  run_.flags.Set(root, after);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const VertexId third = list[i];
    if (mark_[third] == 0) continue;
    const Value of_root = mark_[third] - 1;
    const Value of_lower = values[i] - 1;
    if (of_root > after && of_root <= before) run_.flags.Set(std::max(root, third), of_root);
    if (of_lower > after && of_lower <= before) run_.flags.Set(std::max(lower, third), of_lower);
  }
}

}  // namespace slimgraph::dkudu
