// Stores a directed graph as the undirected graph of its sides. Each vertex has an out-side, for
// its outgoing edges, and an in-side, for its incoming edges. An edge joins the out-side of its
// source to the in-side of its destination.
//
// So blocks, folds, logs and the lists of snapshots are undirected, and treat sides as vertices.
// What users see (operations, files, snapshots) is translated by the functions here. In an
// undirected graph each vertex is its own only side.
#pragma once

#include <optional>
#include <vector>

#include "slimgraph/files/slim_file.h"
#include "txnlayer/graph_model/graph_shape.h"

namespace slimgraph::txn {

inline std::span<const Direction> DirectionsOf(const GraphShape& shape) {
  static constexpr Direction kBoth[] = {Direction::kOut, Direction::kIn};
  return std::span(kBoth).first(shape.directed ? 2 : 1);
}
constexpr Direction Opposite(Direction direction) {
  return direction == Direction::kOut ? Direction::kIn : Direction::kOut;
}

constexpr VertexName MaxVertexName(bool directed) { return kMaxVertexName >> (directed ? 1 : 0); }

// The sides of vertex v are named 2v and 2v + 1, so the sides of new vertices have larger names
// than existing sides. A hash chooses which of the two is the out-side. Otherwise, with an even
// number of nodes, each node would store only outgoing or only incoming lists.
inline VertexName SideBit(VertexName vertex, Direction direction) {
  return (Mix(vertex) >> 63) ^ (direction == Direction::kOut ? 0U : 1U);
}
inline VertexName SideOf(const GraphShape& shape, VertexName vertex, Direction direction) {
  return shape.directed ? 2 * vertex + SideBit(vertex, direction) : vertex;
}
template <typename Number>  // a name, a dense id, or a number of sides
constexpr Number VertexOfSide(const GraphShape& shape, Number side) {
  return side >> (shape.directed ? 1 : 0);
}
inline Direction DirectionOf(const GraphShape& shape, VertexName side) {
  return SideOf(shape, VertexOfSide(shape, side), Direction::kOut) == side ? Direction::kOut
                                                                           : Direction::kIn;
}
// The names of the vertices, given the names of all sides.
OriginalIds VertexIds(const GraphShape& shape, const OriginalIds& sides);

// Presents the file of a directed graph as the graph of its sides. The file must outlive this
// object and have the lists of both directions.
class SidesSource : public GraphSource {
 public:
  static Result<SidesSource> Of(const SlimFile& file);

  using GraphSource::has;
  bool has(SectionKind kind) const override { return section_bytes(kind) > 0; }
  std::uint64_t section_bytes(SectionKind kind) const override;
  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const override;
  Result<OriginalIds> ReadOriginalIds() const override;

  // The position of a side's arc in the file, which has all outgoing lists first, then all
  // incoming.
  EdgeOffset ArcInFile(EdgeOffset arc) const;

 private:
  // The part of a range of arcs that lies in one list: direction and vertex of the list, and the
  // position in that direction's section.
  struct Part {
    Direction direction;
    VertexId vertex;
    EdgeOffset begin;
    EdgeOffset count;
  };
  explicit SidesSource(const SlimFile& file) : file_(&file) {}
  const std::vector<EdgeOffset>& offsets_of(Direction direction) const {
    return offsets_[static_cast<std::size_t>(direction)];
  }
  // The arc at which the lists of the vertex's two sides begin.
  EdgeOffset BeginOf(VertexId vertex) const { return offsets_[0][vertex] + offsets_[1][vertex]; }
  // The direction of the vertex's first list (index 0) or second list (index 1).
  Direction DirectionAt(VertexId vertex, VertexId index) const {
    return SideBit(ids_[vertex], Direction::kOut) == index ? Direction::kOut : Direction::kIn;
  }
  template <typename Visit>
  void ForEachPart(EdgeOffset first, EdgeOffset end, Visit visit) const;
  // Reads a range of arcs from the sections of neighbours or of weights.
  Status ReadArcs(bool weights, EdgeOffset first, EdgeOffset end, std::byte* into,
                  std::size_t threads) const;
  Status ReplaceBySides(EdgeOffset first, std::span<VertexId> lists) const;

  const SlimFile* file_;
  OriginalIds ids_;                     // names of vertices, not of sides
  std::vector<EdgeOffset> offsets_[2];  // by direction
};

}  // namespace slimgraph::txn
