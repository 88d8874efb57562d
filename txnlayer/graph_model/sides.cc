#include "txnlayer/graph_model/sides.h"

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
  sides.header_.weight_type = file.weight_type();
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
  if (kind == SectionKind::kOutWeights) return arcs() * WeightBytes(weight_type());
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
  if (kind != SectionKind::kOutOffsets) {
    const bool weights = kind == SectionKind::kOutWeights;
    const std::size_t each = weights ? WeightBytes(weight_type()) : sizeof(VertexId);
    const EdgeOffset first_arc = first_byte / each;
    SLIM_TRY(ReadArcs(weights, first_arc, first_arc + into.size() / each, into.data(), threads));
    if (weights) return {};
    return ReplaceBySides(first_arc,
                          {reinterpret_cast<VertexId*>(into.data()), into.size() / each});
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
  VertexId begin = 0;  // the last vertex whose lists begin at or before `first`
  for (VertexId width = count; width > 1;) {
    const VertexId half = width / 2;
    if (BeginOf(begin + half) <= first) begin += half;
    width -= half;
  }
  for (VertexId vertex = begin; vertex < count && BeginOf(vertex) < end; ++vertex) {
    EdgeOffset at = BeginOf(vertex);
    for (const VertexId index : {0U, 1U}) {
      const Direction direction = DirectionAt(vertex, index);
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

// In each direction, the range of arcs is one contiguous piece of the file.
Status SidesSource::ReadArcs(bool weights, EdgeOffset first, EdgeOffset end, std::byte* into,
                             std::size_t threads) const {
  const std::size_t element_bytes = weights ? WeightBytes(weight_type()) : sizeof(VertexId);
  struct Piece {
    EdgeOffset begin = 0;
    EdgeOffset count = 0;
    std::vector<std::byte> bytes;
  };
  Piece pieces[2];
  ForEachPart(first, end, [&](const Part& part) {
    Piece& piece = pieces[static_cast<std::size_t>(part.direction)];
    if (piece.count == 0) piece.begin = part.begin;
    piece.count += part.count;
  });
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    Piece& piece = pieces[static_cast<std::size_t>(direction)];
    if (piece.count == 0) continue;
    piece.bytes.resize(piece.count * element_bytes);
    const SectionKind kind = weights ? file_->weights(direction) : file_->neighbours(direction);
    SLIM_TRY(file_->Read(kind, piece.begin * element_bytes, piece.bytes, threads));
  }
  ForEachPart(first, end, [&](const Part& part) {
    const Piece& piece = pieces[static_cast<std::size_t>(part.direction)];
    into = std::copy_n(piece.bytes.data() + (part.begin - piece.begin) * element_bytes,
                       part.count * element_bytes, into);
  });
  return {};
}

// Replaces vertices by their sides at which the edges end.
Status SidesSource::ReplaceBySides(EdgeOffset first, std::span<VertexId> lists) const {
  bool well = true;
  VertexId* next = lists.data();
  ForEachPart(first, first + lists.size(), [&](const Part& part) {
    for (EdgeOffset i = 0; i < part.count; ++i, ++next) {
      well = well && *next < file_->vertices();
      if (!well) return;
      *next = 2 * *next + static_cast<VertexId>(SideBit(ids_[*next], Opposite(part.direction)));
    }
  });
  return well ? Status() : InputError("{}: an edge leads to no vertex", path_);
}

}  // namespace slimgraph::txn
