#include "slimgraph/graph/load.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"

namespace slimgraph {
namespace {

constexpr std::size_t kPieceVertices = 1 << 19;

// Where one list begins and ends in the file, in arcs.
struct Bounds {
  EdgeOffset begin;
  EdgeOffset end;
};

template <typename Visit>
Status ForEachBounds(const GraphSource& file, const VertexPart& part, Direction direction,
                     std::size_t threads, Visit visit) {
  std::vector<EdgeOffset> piece;
  const std::size_t step = std::max<std::size_t>(1, kPieceVertices / part.stride);
  EdgeOffset last = 0;
  for (std::size_t done = 0; done < part.count; done += step) {
    const std::size_t count = std::min<std::size_t>(step, part.count - done);
    const std::size_t first = part.first + done * part.stride;
    piece.resize((count - 1) * part.stride + 2);
    SLIM_TRY(file.ReadElements(file.offsets(direction), first, std::span(piece), threads));
    for (std::size_t i = 0; i < count; ++i) {
      const Bounds bounds = {piece[i * part.stride], piece[i * part.stride + 1]};
      if (bounds.begin < last || bounds.end < bounds.begin || bounds.end > file.arcs()) {
        return InputError("{}: the offsets of its lists fall at vertex {}", file.path(),
                          first + i * part.stride);
      }
      last = bounds.end;
      visit(done + i, bounds);
    }
  }
  return {};
}

// Copies the part's lists from a section of the file, in which they lie at `bounds` in units of
// element_bytes.
Status CopyStridedLists(const GraphSource& file, SectionKind kind, std::size_t element_bytes,
                        std::span<const Bounds> bounds, std::span<const EdgeOffset> offsets,
                        MutableBytes into, std::size_t threads) {
  constexpr std::uint64_t kWindowBytes = 4 * kSlimBlockBytes;
  const std::uint64_t section_bytes = file.section_bytes(kind);
  const std::size_t windows = (section_bytes + kWindowBytes - 1) / kWindowBytes;
  return ParallelFor(windows, threads, [&](std::size_t w) -> Status {
    const std::uint64_t begin = w * kWindowBytes;
    const std::uint64_t end = std::min(section_bytes, begin + kWindowBytes);
    auto list = std::partition_point(bounds.begin(), bounds.end(), [&](const Bounds& b) {
      return b.end * element_bytes <= begin;
    });
    if (list == bounds.end() || list->begin * element_bytes >= end) return {};
    std::vector<std::byte> window(end - begin);
    SLIM_TRY(file.Read(kind, begin, window, 1));
    for (; list != bounds.end() && list->begin * element_bytes < end; ++list) {
      const std::uint64_t from = std::max(begin, list->begin * element_bytes);
      const std::uint64_t to = std::min(end, list->end * element_bytes);
      if (from >= to) continue;
      const std::uint64_t skipped = from - list->begin * element_bytes;
      const EdgeOffset local = offsets[static_cast<std::size_t>(list - bounds.begin())];
      std::memcpy(into.data() + local * element_bytes + skipped, window.data() + (from - begin),
                  to - from);
    }
    return {};
  });
}

// Calls `watch` list by list for the arcs from `begin` on.
void NotifyLists(const VertexPart& part, std::span<const EdgeOffset> offsets, EdgeOffset begin,
                 std::span<const VertexId> arcs, const ListObserver& watch) {
  const EdgeOffset end = begin + arcs.size();
  auto list = std::upper_bound(offsets.begin(), offsets.end(), begin) - 1;
  for (EdgeOffset at = begin; at < end; ++list) {
    const EdgeOffset until = std::min(list[1], end);
    if (at == until) continue;
    watch(part.first + static_cast<VertexId>(list - offsets.begin()),
          arcs.subspan(at - begin, until - at));
    at = until;
  }
}

// Reads the neighbours of a contiguous part in pieces, and calls `watch` while a piece is in cache.
Status ReadNeighbours(const GraphSource& file, const VertexPart& part, Direction direction,
                      EdgeOffset first, const ListSpans& lists, std::size_t threads,
                      const ListObserver& watch) {
  const std::span<VertexId> into = lists.neighbours;
  constexpr std::uint64_t kBlock = kSlimBlockBytes / sizeof(VertexId);
  if (into.empty()) return {};
  const std::uint64_t first_block = first / kBlock;
  const std::uint64_t last_block = (first + into.size() - 1) / kBlock;
  return ParallelFor(last_block - first_block + 1, threads, [&](std::size_t i) -> Status {
    const std::uint64_t begin = std::max(first, (first_block + i) * kBlock);
    const std::uint64_t end = std::min(first + into.size(), (first_block + i + 1) * kBlock);
    const auto piece = into.subspan(begin - first, end - begin);
    SLIM_TRY(file.ReadElements(file.neighbours(direction), begin, piece, 1));
    if (watch) NotifyLists(part, lists.offsets, begin - first, piece, watch);
    return {};
  });
}

// Reads the offsets of a contiguous part and makes them relative to its first list. Returns where
// that list begins in the file.
Result<EdgeOffset> ReadContiguousOffsets(const GraphSource& file, const VertexPart& part,
                                         Direction direction, std::span<EdgeOffset> into,
                                         std::size_t threads) {
  SLIM_TRY(file.ReadElements(file.offsets(direction), part.first, into, threads));
  const EdgeOffset first = into[0];
  bool falls = into.back() > file.arcs();
  EdgeOffset last = first;
  for (EdgeOffset& offset : into) {
    falls |= offset < last;
    last = std::exchange(offset, offset - first);
  }
  if (falls) return InputError("{}: the offsets of its lists fall", file.path());
  return first;
}

}  // namespace

Result<EdgeOffset> CountArcs(const GraphSource& file, const VertexPart& part, Direction direction) {
  if (part.count == 0) return 0;
  EdgeOffset arcs = 0;
  if (part.stride == 1) {
    EdgeOffset first = 0;
    EdgeOffset last = 0;
    SLIM_TRY(file.ReadElements(file.offsets(direction), part.first, std::span(&first, 1), 1));
    SLIM_TRY(file.ReadElements(file.offsets(direction), std::uint64_t{part.first} + part.count,
                               std::span(&last, 1), 1));
    if (last < first || last > file.arcs()) {
      return InputError("{}: the offsets of its lists fall", file.path());
    }
    return last - first;
  }
  SLIM_TRY(ForEachBounds(file, part, direction, 0,
                         [&](std::size_t, Bounds b) { arcs += b.end - b.begin; }));
  return arcs;
}

Status LoadLists(const GraphSource& file, const VertexPart& part, Direction direction,
                 const ListSpans& into, std::size_t threads, const ListObserver& watch) {
  SLIM_CHECK(into.offsets.size() == std::size_t{part.count} + 1);
  SLIM_CHECK(file.has(direction), "{} has no such lists", file.path());
  into.offsets[0] = 0;
  if (part.count == 0) return {};
  std::vector<Bounds> bounds(part.stride == 1 ? 0 : part.count);
  EdgeOffset first = 0;
  if (part.stride == 1) {
    SLIM_ASSIGN(first, ReadContiguousOffsets(file, part, direction, into.offsets, threads));
  } else {
    SLIM_TRY(ForEachBounds(file, part, direction, threads, [&](std::size_t i, Bounds b) {
      bounds[i] = b;
      into.offsets[i + 1] = into.offsets[i] + (b.end - b.begin);
    }));
  }
  const std::size_t arcs = into.offsets.back();
  const std::size_t weight_bytes = into.weights.empty() ? 0 : WeightBytes(file.weight_type());
  SLIM_CHECK(into.neighbours.size() == arcs && into.weights.size() == arcs * weight_bytes);
  if (part.stride == 1) {
    SLIM_TRY(ReadNeighbours(file, part, direction, first, into, threads, watch));
  } else {
    SLIM_TRY(CopyStridedLists(file, file.neighbours(direction), sizeof(VertexId), bounds,
                              into.offsets, std::as_writable_bytes(into.neighbours), threads));
  }
  if (weight_bytes == 0) return {};
  const SectionKind kind = file.weights(direction);
  if (part.stride == 1) return file.Read(kind, first * weight_bytes, into.weights, threads);
  return CopyStridedLists(file, kind, weight_bytes, bounds, into.offsets, into.weights, threads);
}

}  // namespace slimgraph
