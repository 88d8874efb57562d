// Lowers the upper bounds of edges' trussness until no edge can be lowered. A bound is the number
// of triangles of an edge within its truss, so trussness minus 2. The bound b of an edge is lowered
// to the largest h such that h of its triangles have two other edges of bounds h or more (an
// h-index, by Sariyuce and others, PVLDB 2018). In whichever order edges are lowered, the bounds
// end at the trussness.
//
// Each edge is visited at its higher vertex. An edge whose bound has changed flags the edges that
// this may lower, at their roots, for the next round; and itself, because bounds that it has read
// may have changed meanwhile.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "dkudu/internal/kernel/neighbour_lists.h"
#include "dkudu/internal/sharing/arc_values.h"
#include "dkudu/internal/sharing/root_flags.h"

namespace slimgraph::dkudu {

// What the kernels of a node share.
struct TrussRun {
  ArcValues values;  // bounds plus 1; 0: none is known yet
  RootFlags flags;   // the flag of bound b has the number b
  std::uint64_t round = 1;

  // The first round visits all edges, and so does the second, as all edges have changed.
  bool visits_all() const { return round <= 2; }
};

// How the memory for lists and bounds is divided.
struct TrussRoom {
  TrussRoom(const MiningGraph& graph, std::uint64_t chunk_bytes);
  // What is kept for each list besides itself and its bounds.
  static constexpr std::uint64_t kBytesPerList = ArcReader::kBytesPerList + 8;

  std::uint64_t list_bytes;   // of NeighbourLists
  std::uint64_t values;       // bounds of these lists
  std::uint64_t lower_lists;  // at a time
};

class TrussKernel {
 public:
  // `chunk_bytes` must be at least LeastBytes().
  TrussKernel(MiningJob& job, std::uint32_t thread, ListCache* cache, std::uint64_t chunk_bytes,
              TrussRun& run);

  static std::uint64_t LeastBytes(const MiningGraph& graph);
  // The most memory that a kernel takes, of which `chunk_bytes` are for lists and bounds.
  static std::uint64_t Bytes(const MiningGraph& graph, std::uint64_t chunk_bytes);

  // Whether the new bounds of another task can be kept until Write().
  bool HasRoomForTask() const { return writer_.HasRoomFor(2 * task_neighbours_); }
  Status Run(const RootTask& task);
  Status Write() { return writer_.WriteAll(); }
  // The number of edges that were lowered since the last call.
  std::uint64_t TakeChanges() { return std::exchange(changes_, 0); }

 private:
  using Value = ArcValues::Value;
  struct Wanted {
    std::uint32_t i;  // the edge's position in the root's list
    FetchedLists::Ticket lower;
  };
  struct Piece {
    RootLists::Root root;
    ArcValues::Values values;
    std::size_t first;  // in wanted_
    std::size_t last;
  };
  Status FetchRoots(const RootTask& task);
  bool HasRoomFor(VertexId v) const {
    return wanted_.size() < lower_lists_ && lists_.HasRoomFor(v) && lower_values_.HasRoomFor(v);
  }
  // An edge has no more triangles than its lower vertex has further neighbours.
  Value BoundOf(Value value, VertexId lower) const {
    return std::min(value - 1, static_cast<Value>(graph_.degree(lower) - 1));
  }
  Status ScanPieces();
  void Visit(const Piece& piece, const Wanted& wanted, List list, ArcValues::Values values);
  Value Lower(Value bound, List list, ArcValues::Values values);
  void FlagLowered(VertexId root, VertexId lower, Value before, Value after, List list,
                   ArcValues::Values values);

  const MiningGraph& graph_;
  TrussRun& run_;
  std::uint64_t task_neighbours_;
  RootLists roots_;
  ArcReader root_values_;
  NeighbourLists lists_;
  ArcReader lower_values_;
  ArcWriter writer_;
  std::uint64_t lower_lists_;      // the most at a time
  std::vector<VertexId> flagged_;  // roots of the task
  std::vector<Wanted> wanted_;
  std::vector<Piece> pieces_;
  std::vector<Value> mark_;            // by vertex: 0, or of the root's neighbours the bound plus 1
  std::vector<std::uint32_t> counts_;  // by bound
  std::uint64_t changes_ = 0;
};

}  // namespace slimgraph::dkudu
