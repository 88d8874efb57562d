// Lists as D-Kudu keeps them, made from a graph's file: measured first, so that memory for them can
// be planned and allocated, then read once more, in steps.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dkudu/internal/graph/degree_order.h"
#include "dkudu/internal/kernel/sets.h"
#include "slimgraph/files/graph_source.h"
#include "slimgraph/graph/partition.h"

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
// Those of one vertex with so many neighbours, of which so many are above it.
DegreeSums SumsOf(std::uint64_t degree, std::uint64_t above);

// The vertices whose ranks leave the remainder `home` when divided by `homes`.
struct DealtOut {
  NodeId home = 0;
  NodeId homes = 1;

  bool Has(VertexId rank) const { return homes == 1 || rank % homes == home; }
};

class FileLists {
 public:
  // A step has at most this many arcs in each direction, but at least one list.
  static constexpr std::uint64_t kStepArcs = 1 << 19;

  // The lists of those vertices of the contiguous `range` of dense ids that are `wanted`. They are
  // made by `threads` threads. The file and the ranks are only referred to.
  FileLists(const GraphSource& file, ListPart part, std::span<const VertexId> rank_of,
            const VertexPart& range, std::size_t threads, DealtOut wanted = {});

  struct Sizes {
    std::vector<std::uint32_t> lengths;  // of the kept lists, in the order of the range
    DegreeSums sums;
  };
  Result<Sizes> Measure();

  // Calls visit(piece, rank, list) for each list of the next step, in ascending order of entries.
  // Calls for one of the pieces 0 .. pieces()-1 come one after another, those for different pieces
  // at the same time. Returns false if no list was left.
  using Visit = std::function<void(std::size_t piece, VertexId rank, List list)>;
  Result<bool> VisitNext(const Visit& visit);
  std::size_t pieces() const { return entries_.size(); }

  // The memory that reading takes, without that of a list which is longer than a step.
  static std::uint64_t Bytes(const GraphSource& file, std::size_t threads);

 private:
  // One direction's lists in the part of the file that is being read. Vertices count from window_
  // on.
  struct Side {
    Direction direction;
    std::vector<EdgeOffset> offsets;
    // The first `count` of these have been read: from arc `first` of the file up to the end of a
    // block, so that the next step does not read that block again.
    std::vector<VertexId> neighbours;
    std::size_t count = 0;
    EdgeOffset first = 0;

    EdgeOffset ArcsOf(std::size_t begin, std::size_t end) const {
      return offsets[end] - offsets[begin];
    }
    // The neighbours from that vertex's list on.
    List From(std::size_t vertex) const {
      return List(neighbours).first(count).subspan(offsets[vertex] - first);
    }
    List ListOf(std::size_t vertex) const { return From(vertex).first(ArcsOf(vertex, vertex + 1)); }
    // Has the lists of these vertices here.
    Status Read(const GraphSource& file, std::size_t begin, std::size_t end, std::size_t threads);
  };

  // Reads the lists of the next vertices, and cuts them into pieces.
  Status ReadStep();
  // Calls visit(piece, dense id) for the wanted vertices of the step.
  template <typename Each>
  Status VisitStep(Each visit);
  // Calls each(entry, counts) for the entries of the complete list, by dense ids ascending.
  // Self-loops and duplicates do not count.
  template <typename Each>
  void VisitEntries(VertexId dense, Each each) const;
  // The entries of the list as it is kept, by dense ids ascending.
  std::span<VertexId> Entries(std::size_t piece, VertexId dense);

  const GraphSource& file_;
  const ListPart part_;
  const std::span<const VertexId> rank_of_;
  const VertexPart range_;
  const DealtOut wanted_;
  const std::size_t threads_;
  VertexId next_;        // the first vertex of the next step
  VertexId window_ = 0;  // the first vertex whose offsets are here
  std::vector<Side> sides_;
  std::vector<VertexId> cuts_;  // piece i has the vertices cuts_[i] .. cuts_[i + 1]-1
  std::vector<std::vector<VertexId>> entries_;  // by piece: scratch memory
};

}  // namespace slimgraph::dkudu
