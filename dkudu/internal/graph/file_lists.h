// The lists of one home, made from a graph's file: measured first, so that memory for them can be
// planned and allocated, then read once more.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dkudu/internal/graph/degree_order.h"
#include "dkudu/internal/kernel/sets.h"
#include "slimgraph/files/graph_source.h"

namespace slimgraph::dkudu {

// Which part of each list is kept: only the neighbours above its vertex, which takes half the
// memory and suffices for triangles and cliques, or the complete list. kArcs: of a directed graph
// the neighbours in both directions, each with a bit that tells whether an arc leads to it. Of an
// undirected graph, kArcs is the same as kAll.
enum class ListPart { kUpper, kAll, kArcs };

// With kArcs, an entry of a list is twice the neighbour, plus 1 if an arc leads from the list's
// vertex to it. Otherwise an entry is the neighbour.
constexpr unsigned EntryBits(ListPart part) { return part == ListPart::kArcs ? 1 : 0; }

// kArcs of an undirected graph is kAll.
ListPart PartFor(const GraphSource& file, ListPart part);
// An error if the file has no vertices, or if `part` cannot be made of it.
Status CheckForMining(const GraphSource& file, ListPart part);

// Sums over vertices.
struct DegreeSums {
  std::uint64_t arcs = 0;
  std::uint64_t most = 0;
  std::uint64_t most_above = 0;    // most neighbours above one vertex
  std::uint64_t matrix_bytes = 0;  // of bit matrices, one for the neighbours above each vertex
  unsigned __int128 pairs = 0;     // pairs of neighbours of one vertex: d (d - 1) / 2
  unsigned __int128 triples = 0;   // d (d - 1) (d - 2) / 6

  void Add(const DegreeSums& other);
};

class FileLists {
 public:
  // The lists of the vertices whose ranks leave the remainder `home` when divided by `homes`. A
  // list's number is its vertex's rank divided by `homes`. The file and the ranks are only
  // referred to.
  FileLists(const GraphSource& file, ListPart part, std::span<const VertexId> rank_of, NodeId home,
            NodeId homes)
      : file_(file), part_(part), rank_of_(rank_of), home_(home), homes_(homes) {}

  VertexId count() const;
  struct Sizes {
    std::vector<std::uint32_t> lengths;  // of the kept lists, by number
    DegreeSums sums;
  };
  Result<Sizes> Measure() const;
  // Calls visit(number, list) for each list as it is kept, in ascending order of entries.
  Status ForEach(const std::function<void(VertexId, List)>& visit) const;

  // The memory that reading takes.
  static std::uint64_t Bytes(const GraphSource& file);

 private:
  // Calls visit(rank, entries in any order) for every vertex; the visitor may change the entries.
  template <typename Visit>
  Status ForEachComplete(Visit visit) const;

  const GraphSource& file_;
  const ListPart part_;
  const std::span<const VertexId> rank_of_;
  const NodeId home_;
  const NodeId homes_;
};

}  // namespace slimgraph::dkudu
