#include "slimgraph/files/inspect.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "slimgraph/files/internal/list_blocks.h"
#include "slimgraph/files/internal/raw_graph.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kPieceArcs = 1 << 20;

using ArcVisitor = std::function<Status(VertexId owner, std::uint64_t first_arc,
                                        std::span<const VertexId> neighbours, Bytes weights)>;

Result<std::vector<EdgeOffset>> ReadOffsets(const SlimFile& file, Direction direction) {
  std::vector<EdgeOffset> offsets(std::size_t{file.vertices()} + 1);
  SLIM_TRY(file.ReadElements(file.offsets(direction), 0, std::span(offsets)));
  SLIM_TRY(internal::CheckOffsets(offsets, file.arcs(), file.path()));
  return offsets;
}

// Visits every list. A list that spans several read pieces is visited in parts.
Status ForEachList(const SlimFile& file, Direction direction, std::span<const EdgeOffset> offsets,
                   const ArcVisitor& visit) {
  const std::size_t weight_bytes = WeightBytes(file.weight_type());
  std::vector<VertexId> neighbours;
  std::vector<std::byte> weights;
  std::size_t owner = 0;
  for (std::uint64_t first = 0; first < file.arcs(); first += kPieceArcs) {
    const std::uint64_t count = std::min(kPieceArcs, file.arcs() - first);
    neighbours.resize(count);
    SLIM_TRY(file.ReadElements(file.neighbours(direction), first, std::span(neighbours)));
    weights.resize(count * weight_bytes);
    if (weight_bytes > 0) {
      SLIM_TRY(file.Read(file.weights(direction), first * weight_bytes, weights));
    }
    for (std::uint64_t at = first; at < first + count;) {
      while (offsets[owner + 1] <= at) ++owner;
      const std::uint64_t end = std::min<std::uint64_t>(offsets[owner + 1], first + count);
      SLIM_TRY(visit(
          static_cast<VertexId>(owner), at, std::span(neighbours).subspan(at - first, end - at),
          Bytes(weights).subspan((at - first) * weight_bytes, (end - at) * weight_bytes)));
      at = end;
    }
  }
  return {};
}

struct Findings {
  std::uint64_t upper = 0;  // fingerprints of the arcs with owner < neighbour
  std::uint64_t lower = 0;  // fingerprints of the reversed arcs with owner > neighbour
  std::uint64_t all = 0;
  std::uint64_t all_reversed = 0;
  std::uint64_t self_loops = 0;
  std::uint64_t duplicates = 0;
};

Result<Findings> CheckLists(const SlimFile& file, Direction direction) {
  SLIM_ASSIGN(const std::vector<EdgeOffset> offsets, ReadOffsets(file, direction));
  const std::size_t weight_bytes = WeightBytes(file.weight_type());
  Findings found;
  VertexId previous = 0;
  const auto visit = [&](VertexId owner, std::uint64_t first, std::span<const VertexId> neighbours,
                         Bytes weights) -> Status {
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const VertexId neighbour = neighbours[i];
      const bool starts = first + i == offsets[owner];
      if (!starts && neighbour < previous) {
        return InputError("{}: the list of vertex {} does not ascend: found {} after {}",
                          file.path(), owner, neighbour, previous);
      }
      found.duplicates += !starts && neighbour == previous;
      found.self_loops += neighbour == owner;
      previous = neighbour;
      std::uint64_t weight = 0;
      if (weight_bytes > 0) {
        std::memcpy(&weight, weights.data() + i * weight_bytes, weight_bytes);
      }
      const std::uint64_t there = internal::ArcFingerprint(owner, neighbour, weight);
      const std::uint64_t back = internal::ArcFingerprint(neighbour, owner, weight);
      found.all += there;
      found.all_reversed += back;
      if (owner < neighbour) found.upper += there;
      if (owner > neighbour) found.lower += back;
    }
    return {};
  };
  SLIM_TRY(ForEachList(file, direction, offsets, visit));
  return found;
}

}  // namespace

Status CheckContents(const SlimFile& file) {
  const auto wrong = [&](std::string_view what) { return InputError("{}: {}", file.path(), what); };
  SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
  if (std::adjacent_find(ids.list().begin(), ids.list().end(), std::greater_equal<>()) !=
          ids.list().end() &&
      ids.ascending()) {
    return wrong("the original ids do not ascend");
  }
  SLIM_ASSIGN(const Findings out, CheckLists(file, Direction::kOut));
  const std::uint64_t edges =
      file.directed() ? file.arcs() : (file.arcs() - out.self_loops) / 2 + out.self_loops;
  if (edges != file.edges()) return wrong("the header's edge count does not match the lists");
  if (out.self_loops > 0 && !file.may_have_self_loops())
    return wrong("there are self-loops, but the header says there are none");
  if (out.duplicates > 0 && !file.may_have_duplicates())
    return wrong("there are duplicate edges, but the header says there are none");
  if (!file.directed() && out.upper != out.lower) {
    return wrong("the lists of this undirected graph are not symmetric");
  }
  if (file.directed() && file.has(Direction::kIn)) {
    SLIM_ASSIGN(const Findings in, CheckLists(file, Direction::kIn));
    if (in.all_reversed != out.all) {
      return wrong("the incoming edges are not the reverse of the outgoing ones");
    }
  }
  return {};
}

Result<InfoReport> Inspect(const InfoOptions& options) {
  SLIM_ASSIGN(const SlimFile file, SlimFile::Open(options.path));
  if (options.check) {
    SLIM_TRY(file.CheckAll(options.progress));
    SLIM_TRY(CheckContents(file));
  }
  InfoReport report;
  report.checked = options.check;
  report.path = file.path();
  report.file_bytes = file.file_bytes();
  report.vertices = file.vertices();
  report.edges = file.edges();
  report.arcs = file.arcs();
  report.directed = file.directed();
  report.reverse_lists = file.has(SectionKind::kInOffsets);
  report.may_have_self_loops = file.may_have_self_loops();
  report.may_have_duplicates = file.may_have_duplicates();
  report.weight_type = file.weight_type();
  report.coded_bytes = file.section_bytes(SectionKind::kRankedLists);
  SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
  if (ids.count() == 0) return report;
  report.ids_ascend = ids.ascending();
  report.first_id = ids.smallest();
  report.last_id = ids.largest();
  SLIM_ASSIGN(const std::vector<EdgeOffset> offsets, ReadOffsets(file, Direction::kOut));
  report.max_degree_id = ids.first();
  for (VertexId v = 0; v < file.vertices(); ++v) {
    const EdgeOffset degree = offsets[std::size_t{v} + 1] - offsets[v];
    report.without_edges += degree == 0;
    if (degree > report.max_degree) {
      report.max_degree = degree;
      report.max_degree_id = ids[v];
    }
  }
  return report;
}

}  // namespace slimgraph
