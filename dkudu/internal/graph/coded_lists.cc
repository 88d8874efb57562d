#include "dkudu/internal/graph/coded_lists.h"

#include <algorithm>

#include "slimgraph/base/check.h"

namespace slimgraph::dkudu {
namespace {

// A piece has the lists of this many vertices. They are whole index groups, so no group is scanned
// twice.
constexpr VertexId kDecodedTogether = 16 * CompactOffsets::kGroup;

// Calls visit(number, place) for the vertices first .. end-1 of a home, in order; `place` is where
// the list lies at the home.
template <typename Visit>
void VisitLists(const CompactOffsets& index, VertexId first, VertexId end, Visit visit) {
  constexpr VertexId kGroup = CompactOffsets::kGroup;
  for (VertexId at = first; at < end;) {
    const VertexId next = std::min(end, (at / kGroup + 1) * kGroup);
    index.VisitGroup(at / kGroup, at, next, visit);
    at = next;
  }
}

}  // namespace

std::pair<VertexId, VertexId> VerticesOf(const MiningGraph& graph, NodeId home, RankRange range) {
  if (home < graph.first_home()) return {0, 0};
  const NodeId homes = graph.homes();
  const NodeId part = home - graph.first_home();
  // The number of the home's vertices below a rank.
  const auto below = [&](VertexId rank) {
    return rank / homes + (rank % homes > part ? VertexId{1} : VertexId{0});
  };
  return {below(range.first), below(range.end)};
}

std::pair<EdgeOffset, EdgeOffset> ArcsOf(const MiningGraph& graph, NodeId home, RankRange range) {
  const auto [first, end] = VerticesOf(graph, home, range);
  return {graph.index(home).begin(first), graph.index(home).begin(end)};
}

std::uint64_t CodedBytesOf(const MiningGraph& graph, NodeId home, RankRange range) {
  const auto [first, end] = VerticesOf(graph, home, range);
  return graph.index(home).FindByte(end) - graph.index(home).FindByte(first);
}

void CodedLists::StartFetch(ListFetch& fetch, RankRange range, const std::vector<NodeId>& homes,
                            const std::vector<bool>& wanted) {
  std::uint64_t bytes = ListCode::kSlackBytes;
  for (const NodeId home : homes) {
    if (graph_.in_place(home) == nullptr) bytes += CodedBytesOf(graph_, home, range);
  }
  if (bytes > capacity_) {
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    capacity_ = bytes;
  }
  wanted_ = wanted.empty() ? nullptr : &wanted;
  pieces_.clear();
  std::byte* into = memory_.get();
  for (const NodeId home : homes) {
    const auto [first, end] = VerticesOf(graph_, home, range);
    const std::uint64_t begin_byte = graph_.index(home).FindByte(first);
    const std::uint64_t end_byte = graph_.index(home).FindByte(end);
    if (begin_byte == end_byte) continue;
    const std::byte* const in_place = graph_.in_place(home);
    const std::byte* const coded = in_place == nullptr ? into : in_place + begin_byte;
    for (VertexId at = first; at < end;) {
      const VertexId next = std::min(end, (at / kDecodedTogether + 1) * kDecodedTogether);
      pieces_.push_back({home, at, next, coded, begin_byte});
      at = next;
    }
    if (in_place != nullptr) continue;
    if (wanted_ == nullptr) {
      fetch.Collect(home, begin_byte, MutableBytes(into, end_byte - begin_byte));
    } else {
      CollectWanted(fetch, home, first, end, begin_byte, into);
    }
    into += end_byte - begin_byte;
  }
  fetching_ = fetch.Start();
}

// Every list keeps its own position in `into`; the gaps between wanted lists stay unread.
void CodedLists::CollectWanted(ListFetch& fetch, NodeId home, VertexId first, VertexId end,
                               std::uint64_t home_byte, std::byte* into) {
  std::uint64_t range_begin = home_byte;
  std::uint64_t range_end = home_byte;  // end of the reads merged so far
  const auto collect = [&] {
    if (range_end == range_begin) return;
    fetch.Collect(home, range_begin,
                  MutableBytes(into + (range_begin - home_byte), range_end - range_begin));
  };
  VisitLists(
      graph_.index(home), first, end,
      [&](VertexId number, const CompactOffsets::ListLocation& location) {
        if (location.length == 0 || !(*wanted_)[graph_.vertex(home, number)]) return;
        if (location.first_byte > range_end + ListFetch::kMaxGapBytes || range_begin == range_end) {
          collect();
          range_begin = location.first_byte;
        }
        range_end = location.first_byte + graph_.code().Bytes(location.length);
      });
  collect();
}

void CodedLists::Decode(std::size_t number, std::span<const HomeLists> lists) const {
  const Piece& piece = pieces_[number];
  const HomeLists& into = lists[piece.home];
  VisitLists(graph_.index(piece.home), piece.first, piece.end,
             [&](VertexId v, const CompactOffsets::ListLocation& location) {
               if (wanted_ != nullptr && !(*wanted_)[graph_.vertex(piece.home, v)]) return;
               const std::byte* const coded = piece.coded + (location.first_byte - piece.home_byte);
               const std::span list(into.memory + (location.begin - into.begin), location.length);
               SLIM_CHECK(graph_.code().Decode(coded, list),
                          "node {} keeps a list that cannot be decoded", piece.home);
             });
}

}  // namespace slimgraph::dkudu
