// A directed graph is kept as the undirected one of its sides: each vertex has two, one for the
// edges that go out of it and one for those that come in, and an edge joins the out-side of its
// first vertex to the in-side of its second. So all that keeps graphs, from blocks to snapshots'
// changes, keeps undirected ones, and knows sides as vertices; what people see of a graph
// (operations, files, snapshots) goes through the functions here. An undirected graph's vertices
// are their own sides.
#pragma once

#include <optional>
#include <vector>

#include "slimgraph/graph/slim_file.h"
#include "txnlayer/graph/graph_shape.h"

namespace slimgraph::txn {

inline std::span<const Direction> DirectionsOf(const GraphShape& shape) {
  static constexpr Direction kBoth[] = {Direction::kOut, Direction::kIn};
  return std::span(kBoth).first(shape.directed ? 2 : 1);
}
constexpr Direction Opposite(Direction direction) {
  return direction == Direction::kOut ? Direction::kIn : Direction::kOut;
}

constexpr VertexName MaxVertexName(bool directed) { return kMaxVertexName >> (directed ? 1 : 0); }

// The sides of vertex v are called 2v and 2v + 1, so that those of vertices that come have their
// places behind those that there are. Which of them is which goes by a hash: nodes have sides by
// their number, and each should have as many of either kind.
inline VertexName SideBit(VertexName vertex, Direction direction) {
  return (Mix(vertex) >> 63) ^ (direction == Direction::kOut ? 0U : 1U);
}
inline VertexName SideOf(const GraphShape& shape, VertexName vertex, Direction direction) {
  return shape.directed ? 2 * vertex + SideBit(vertex, direction) : vertex;
}
template <typename Number>  // a name, or a place among all sides, or how many there are
constexpr Number VertexOfSide(const GraphShape& shape, Number side) {
  return side >> (shape.directed ? 1 : 0);
}
inline Direction DirectionOf(const GraphShape& shape, VertexName side) {
  return SideOf(shape, VertexOfSide(shape, side), Direction::kOut) == side ? Direction::kOut
                                                                           : Direction::kIn;
}
// What the vertices are called whose sides, all of them, are called so.
OriginalIds VertexIds(const GraphShape& shape, const OriginalIds& sides);

// A directed graph's file, which outlives it and has the lists of both directions, as the graph of
// its sides.
class SidesSource : public GraphSource {
 public:
  static Result<SidesSource> Of(const SlimFile& file);

  using GraphSource::has;
  bool has(SectionKind kind) const override { return section_bytes(kind) > 0; }
  std::uint64_t section_bytes(SectionKind kind) const override;
  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const override;
  Result<OriginalIds> ReadOriginalIds() const override;

  // An arc of a side among the file's: those of all outgoing lists, then those of all incoming.
  EdgeOffset ArcInFile(EdgeOffset arc) const;

 private:
  // What a range of arcs has of one list: the list's direction and vertex, and where it is in that
  // direction's section.
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
  // Where the lists of a vertex's sides begin.
  EdgeOffset BeginOf(VertexId vertex) const { return offsets_[0][vertex] + offsets_[1][vertex]; }
  // Which list of the vertex comes first, or second.
  Direction DirectionAt(VertexId vertex, VertexId place) const {
    return SideBit(ids_[vertex], Direction::kOut) == place ? Direction::kOut : Direction::kIn;
  }
  template <typename Visit>
  void ForEachPart(EdgeOffset first, EdgeOffset end, Visit visit) const;
  // What a range of arcs has in the sections of neighbours or of weights.
  Status ReadArcs(bool weights, EdgeOffset first, EdgeOffset end, std::byte* into,
                  std::size_t threads) const;
  Status NameNeighbours(EdgeOffset first, std::span<VertexId> lists) const;

  const SlimFile* file_;
  OriginalIds ids_;                     // of the vertices
  std::vector<EdgeOffset> offsets_[2];  // by direction
};

}  // namespace slimgraph::txn
