// The coded lists of some homes for a range of ranks: fetched to this node, then decoded. One
// thread starts the fetch and waits for it. Then several threads may decode the lists together,
// piece by piece.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dkudu/internal/graph/list_fetch.h"
#include "dkudu/mining_graph.h"

namespace slimgraph::dkudu {

// Ranks [first, end).
struct RankRange {
  VertexId first = 0;
  VertexId end = 0;
  bool contains(VertexId v) const { return first <= v && v < end; }
};

// Where the decoded lists of one home are stored in this node's memory.
struct HomeLists {
  VertexId* memory = nullptr;
  EdgeOffset begin = 0;  // number of the arc, among the home's arcs, that memory starts with
};

// The vertices of `home` in the range, by their numbers at the home.
std::pair<VertexId, VertexId> VerticesOf(const MiningGraph& graph, NodeId home, RankRange range);
// The arcs of these vertices, as positions in the home's lists.
std::pair<EdgeOffset, EdgeOffset> ArcsOf(const MiningGraph& graph, NodeId home, RankRange range);
// The bytes that these lists take when they are coded.
std::uint64_t CodedBytesOf(const MiningGraph& graph, NodeId home, RankRange range);

// The longest range from `first` to at most `limit` for which fits(range) holds, found by doubling
// and then halving steps. If no range fits, the shortest range is returned.
template <typename Fits>
RankRange LongestRange(const MiningGraph& graph, VertexId first, VertexId limit, const Fits& fits) {
  const std::uint64_t grain = std::uint64_t{8} * graph.homes();
  const auto of = [&](std::uint64_t grains) {
    return RankRange{first,
                     static_cast<VertexId>(std::min<std::uint64_t>(limit, first + grains * grain))};
  };
  std::uint64_t grains = 1;
  std::uint64_t step = 1;
  while (of(grains).end < limit && fits(of(grains + step))) {
    grains += step;
    step *= 2;
  }
  for (; step > 0; step /= 2) {
    if (fits(of(grains + step))) grains += step;
  }
  return of(grains);
}

class CodedLists {
 public:
  explicit CodedLists(const MiningGraph& graph) : graph_(graph) {}

  // Starts a new fetch and discards what was fetched before. `wanted`, by rank, restricts the fetch
  // to these lists, as far as that saves bytes; empty: all lists.
  void StartFetch(ListFetch& fetch, RankRange range, const std::vector<NodeId>& homes,
                  const std::vector<bool>& wanted);
  Status Finish(ListFetch& fetch) { return fetch.Finish(fetching_); }

  // Decodes one piece of what has been fetched into the lists of its home.
  std::size_t pieces() const { return pieces_.size(); }
  void Decode(std::size_t piece, std::span<const HomeLists> lists) const;

 private:
  struct Piece {
    NodeId home;
    VertexId first;  // numbers at the home
    VertexId end;
    const std::byte* coded;  // of the home's lists from home_byte on
    std::uint64_t home_byte;
  };
  void CollectWanted(ListFetch& fetch, NodeId home, VertexId first, VertexId end,
                     std::uint64_t home_byte, std::byte* into);

  const MiningGraph& graph_;
  const std::vector<bool>* wanted_ = nullptr;
  std::unique_ptr<std::byte[]> memory_;
  std::uint64_t capacity_ = 0;
  std::vector<Piece> pieces_;
  ListFetch::Ticket fetching_ = 0;
};

}  // namespace slimgraph::dkudu
