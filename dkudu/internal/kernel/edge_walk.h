// Walks the edges of roots, each at its higher vertex, with the complete lists of the lower ones.
// In a graph ordered by degree, these lists are the short ones.
#pragma once

#include <vector>

#include "dkudu/internal/kernel/neighbour_lists.h"
#include "slimgraph/base/check.h"

namespace slimgraph::dkudu {

template <ListPart kPart>
class EdgeWalk {
 public:
  // Lower neighbours [first, last) of a root; more pieces of the same root may follow.
  struct Piece {
    VertexId root;
    List list;  // the entries of the root's list
    std::size_t first;
    std::size_t last;

    VertexId neighbour(std::size_t i) const { return list[i] >> EntryBits(kPart); }
  };

  // `chunk_bytes` must be at least LeastKernelBytes().
  EdgeWalk(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
           std::uint64_t chunk_bytes)
      : roots_(graph, fetch, cache, reuse),
        neighbours_(graph, fetch, cache, reuse, chunk_bytes - RootLists::Bytes(graph)) {
    SLIM_CHECK(graph.part() == kPart);
  }

  // Calls scan(piece, list_of) for each piece. list_of(i) is the list of the piece's i-th entry; it
  // must be called for first .. last - 1 in this order.
  template <typename Scan>
  Status Run(const RootTask& task, Scan scan) {
    SLIM_TRY(roots_.Fetch(task));
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const auto [root, list] = roots_.Get(i);
      Piece piece{root, list, 0, 0};
      for (; piece.last < list.size() && piece.neighbour(piece.last) < root; ++piece.last) {
        const VertexId v = piece.neighbour(piece.last);
        if (!neighbours_.HasRoomFor(v)) {
          pieces_.push_back(piece);
          SLIM_TRY(ScanPieces(scan));
          piece.first = piece.last;
        }
        neighbours_.Add(v);
      }
      pieces_.push_back(piece);
    }
    return ScanPieces(scan);
  }

 private:
  template <typename Scan>
  Status ScanPieces(Scan scan) {
    SLIM_TRY(neighbours_.Fetch());
    std::size_t before = 0;  // neighbours of earlier pieces
    for (const Piece& piece : pieces_) {
      scan(piece, [&](std::size_t i) { return neighbours_.Get(before + i - piece.first); });
      before += piece.last - piece.first;
    }
    pieces_.clear();
    neighbours_.Clear();
    return {};
  }

  RootLists roots_;
  NeighbourLists neighbours_;  // of the pieces in order
  std::vector<Piece> pieces_;
};

}  // namespace slimgraph::dkudu
