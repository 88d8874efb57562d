#include "txnlayer/graph/sides.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"

namespace slimgraph::txn {

OriginalIds VertexIds(const GraphShape& shape, const OriginalIds& sides) {
  if (!shape.directed) return sides;
  if (sides.contiguous()) return OriginalIds(sides.first() / 2, sides.count() / 2);
  std::vector<VertexName> names;
  names.reserve(sides.count() / 2);
  for (VertexId side = 0; side < sides.count(); side += 2) names.push_back(sides[side] / 2);
  return OriginalIds(std::move(names));
}

Result<SidesSource> SidesSource::Of(const SlimFile& file) {
  SidesSource sides(file);
  const std::uint64_t count = 2 * std::uint64_t{file.vertices()};
  if (count > kMaxVertices) {
    return InputError("{}: a directed store has at most {} vertices", file.path(),
                      kMaxVertices / 2);
  }
  sides.path_ = file.path();
  sides.header_.vertices = count;
  sides.header_.edges = file.edges();
  sides.header_.arcs = 2 * file.arcs();
  sides.header_.checksums_checksum = file.identity();
  SLIM_ASSIGN(sides.ids_, file.ReadOriginalIds());
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    auto& offsets = sides.offsets_[static_cast<std::size_t>(direction)];
    offsets.resize(std::size_t{file.vertices()} + 1);
    SLIM_TRY(file.ReadElements(file.offsets(direction), 0, std::span(offsets)));
    if (!std::is_sorted(offsets.begin(), offsets.end()) || offsets.back() != file.arcs()) {
      return InputError("{}: the offsets of its lists fall", file.path());
    }
  }
  return sides;
}

std::uint64_t SidesSource::section_bytes(SectionKind kind) const {
  if (kind == SectionKind::kOutOffsets) {
    return (std::uint64_t{vertices()} + 1) * sizeof(EdgeOffset);
  }
  return kind == SectionKind::kOutNeighbours ? arcs() * sizeof(VertexId) : 0;
}

Result<OriginalIds> SidesSource::ReadOriginalIds() const {
  if (ids_.contiguous()) return OriginalIds(2 * ids_.first(), vertices());
  std::vector<VertexName> names;
  names.reserve(vertices());
  for (const VertexName name : ids_.list()) names.insert(names.end(), {2 * name, 2 * name + 1});
  return OriginalIds(std::move(names));
}

Status SidesSource::Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
                         std::size_t threads) const {
  SLIM_CHECK(first_byte + into.size() <= section_bytes(kind), "beyond the end of the sides");
  if (kind == SectionKind::kOutNeighbours) {
    return ReadLists(first_byte / sizeof(VertexId),
                     {reinterpret_cast<VertexId*>(into.data()), into.size() / sizeof(VertexId)},
                     threads);
  }
  const std::size_t first = first_byte / sizeof(EdgeOffset);
  for (std::size_t i = 0; i < into.size() / sizeof(EdgeOffset); ++i) {
    const auto vertex = static_cast<VertexId>((first + i) / 2);
    EdgeOffset offset = BeginOf(vertex);
    if ((first + i) % 2 != 0) {
      const auto& offsets = offsets_of(DirectionAt(vertex, 0));
      offset += offsets[std::size_t{vertex} + 1] - offsets[vertex];
    }
    std::memcpy(into.data() + i * sizeof offset, &offset, sizeof offset);
  }
  return {};
}

template <typename Visit>
void SidesSource::ForEachPart(EdgeOffset first, EdgeOffset end, Visit visit) const {
  const VertexId count = file_->vertices();
  VertexId begin = 0;  // the last vertex whose lists begin there or before
  for (VertexId width = count; width > 1;) {
    const VertexId half = width / 2;
    if (BeginOf(begin + half) <= first) begin += half;
    width -= half;
  }
  for (VertexId vertex = begin; vertex < count && BeginOf(vertex) < end; ++vertex) {
    EdgeOffset at = BeginOf(vertex);
    for (const VertexId place : {0U, 1U}) {
      const Direction direction = DirectionAt(vertex, place);
      const auto& offsets = offsets_of(direction);
      const EdgeOffset length = offsets[std::size_t{vertex} + 1] - offsets[vertex];
      const EdgeOffset from = std::max(first, at);
      const EdgeOffset to = std::min(end, at + length);
      if (from < to) visit(Part{direction, vertex, offsets[vertex] + from - at, to - from});
      at += length;
    }
  }
}

EdgeOffset SidesSource::ArcInFile(EdgeOffset arc) const {
  EdgeOffset in_file = 0;
  ForEachPart(arc, arc + 1, [&](const Part& part) {
    in_file = part.begin + (part.direction == Direction::kIn ? file_->arcs() : 0);
  });
  return in_file;
}

// What a range has of either direction's lists lies in one piece of the file.
Status SidesSource::ReadLists(EdgeOffset first, std::span<VertexId> into,
                              std::size_t threads) const {
  const EdgeOffset end = first + into.size();
  struct Piece {
    EdgeOffset begin = 0;
    EdgeOffset count = 0;
    std::vector<VertexId> lists;
  };
  Piece pieces[2];
  ForEachPart(first, end, [&](const Part& part) {
    Piece& piece = pieces[static_cast<std::size_t>(part.direction)];
    if (piece.count == 0) piece.begin = part.begin;
    piece.count += part.count;
  });
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    Piece& piece = pieces[static_cast<std::size_t>(direction)];
    piece.lists.resize(piece.count);
    SLIM_TRY(file_->ReadElements(file_->neighbours(direction), piece.begin, std::span(piece.lists),
                                 threads));
  }
  bool well = true;
  VertexId* to = into.data();
  ForEachPart(first, end, [&](const Part& part) {
    const Piece& piece = pieces[static_cast<std::size_t>(part.direction)];
    const auto list = std::span(piece.lists).subspan(part.begin - piece.begin, part.count);
    for (const VertexId neighbour : list) {
      well = well && neighbour < file_->vertices();
      if (!well) return;
      *to++ =
          2 * neighbour + static_cast<VertexId>(SideBit(ids_[neighbour], Opposite(part.direction)));
    }
  });
  return well ? Status() : InputError("{}: an edge leads to no vertex", path_);
}

}  // namespace slimgraph::txn
