#include "dkudu/internal/graph/list_stream.h"

#include <algorithm>

namespace slimgraph::dkudu {
namespace {

// A limit for all lists of a window, whether they are read or local, so that random lookups stay in
// the processor's cache. kManyWindows bounds the other cost: every window visits every root.
constexpr std::uint64_t kCacheArcs = (4 << 20) / sizeof(VertexId);
constexpr std::uint64_t kManyWindows = 64;

}  // namespace

ListStream::ListStream(const MiningGraph& graph, ListFetch& fetch, RankRange range,
                       RankRange resident, std::vector<bool> resident_homes,
                       std::uint64_t read_bytes)
    : graph_(graph),
      fetch_(fetch),
      range_(range),
      resident_(resident),
      resident_homes_(std::move(resident_homes)),
      window_bytes_(2 * read_bytes),
      all_arcs_(std::max(kCacheArcs, Measure(range).all_arcs / kManyWindows)),
      slots_{Slot(graph), Slot(graph)} {}

bool ListStream::IsOneWindow(const MiningGraph& graph, std::uint64_t read_bytes) {
  const std::uint64_t list_bytes = graph.remote_list_bytes();
  return list_bytes <= read_bytes &&
         list_bytes + 2 * graph.remote_coded_bytes() <= 2 * read_bytes &&
         graph.arcs() <= kCacheArcs;
}

ListStream::Size ListStream::Measure(RankRange range) const {
  Size size;
  for (NodeId home = 0; home < graph_.nodes(); ++home) {
    const auto [begin, end] = ArcsOf(graph_, home, range);
    size.all_arcs += end - begin;
    if (!reads(home, range)) continue;
    size.bytes += (end - begin) * sizeof(VertexId) + 2 * CodedBytesOf(graph_, home, range);
  }
  return size;
}

RankRange ListStream::Cut(VertexId first) const {
  VertexId limit = range_.end;
  for (const VertexId border : {resident_.first, resident_.end}) {
    if (first < border && border < limit) limit = border;
  }
  return LongestRange(graph_, first, limit, [&](RankRange range) {
    const Size size = Measure(range);
    return size.bytes <= window_bytes_ && size.all_arcs <= all_arcs_;
  });
}

std::vector<NodeId> ListStream::HomesToRead(RankRange range) const {
  std::vector<NodeId> homes;
  for (NodeId home = 0; home < graph_.nodes(); ++home) {
    if (reads(home, range)) homes.push_back(home);
  }
  return homes;
}

void ListStream::StartFetch(Slot& slot) {
  slot.coded.StartFetch(fetch_, slot.range, HomesToRead(slot.range), wanted_);
}

double ListStream::share_left() const {
  const auto all = static_cast<double>(Measure(range_).all_arcs);
  const auto left = static_cast<double>(Measure({window().end, range_.end}).all_arcs);
  return all > 0 ? left / all : 0;
}

// Assigns memory for the decoded lists of the current window.
void ListStream::PlaceLists() {
  const std::vector<NodeId> homes = HomesToRead(window());
  EdgeOffset arcs = 0;
  lists_.assign(graph_.nodes(), {});
  for (const NodeId home : homes) {
    const auto [begin, end] = ArcsOf(graph_, home, window());
    lists_[home].begin = begin;
    arcs += end - begin;
  }
  if (arcs > capacity_) {
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<VertexId[]>(arcs);
    capacity_ = arcs;
  }
  VertexId* into = memory_.get();
  for (const NodeId home : homes) {
    lists_[home].memory = into;
    into += ArcsOf(graph_, home, window()).second - lists_[home].begin;
  }
}

Result<bool> ListStream::LoadNextWindow() {
  if (!started_) {
    slots_[0].range = Cut(range_.first);
    StartFetch(slots_[0]);
    started_ = true;
  }
  current_ = 1 - current_;
  if (slots_[current_].range.first >= range_.end) return false;
  SLIM_TRY(slots_[current_].coded.Finish(fetch_));
  PlaceLists();
  next_piece_ = 0;
  Slot& next = slots_[1 - current_];
  const VertexId first = slots_[current_].range.end;
  next.range = first < range_.end ? Cut(first) : RankRange{range_.end, range_.end};
  if (first < range_.end) StartFetch(next);
  if (!must_decode()) Decode();
  return true;
}

Status ListStream::Stop() {
  Slot& next = slots_[1 - current_];
  const bool is_fetched = started_ && next.range.first < range_.end;
  return is_fetched ? next.coded.Finish(fetch_) : Status();
}

void ListStream::Decode() {
  const CodedLists& coded = slots_[current_].coded;
  for (std::size_t piece = next_piece_++; piece < coded.pieces(); piece = next_piece_++) {
    coded.Decode(piece, lists_);
  }
}

}  // namespace slimgraph::dkudu
