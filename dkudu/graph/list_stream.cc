#include "dkudu/graph/list_stream.h"

#include <algorithm>

namespace slimgraph {
namespace {

// Windows are cut at multiples of this, times the number of nodes.
constexpr VertexId kGrain = 8;
// Of all lists of a window, read or not: what is looked up at random stays in a cache. But every
// window takes a look at every root.
constexpr std::uint64_t kCacheEntries = (4 << 20) / sizeof(VertexId);
constexpr std::uint64_t kManyWindows = 64;

}  // namespace

std::pair<std::uint64_t, std::uint64_t> ListsOf(const MiningGraph& graph, NodeId home,
                                                PlaceRange range) {
  const NodeId nodes = graph.nodes();
  // The home's vertices below a place.
  const auto below = [&](VertexId place) {
    return place / nodes + (place % nodes > home ? VertexId{1} : VertexId{0});
  };
  const Displacements& displacements = graph.displacements();
  return {displacements.begin(home, below(range.first)),
          displacements.begin(home, below(range.end))};
}

ListStream::ListStream(const MiningGraph& graph, ListFetch& fetch, PlaceRange range,
                       PlaceRange held, std::vector<bool> holds, std::uint64_t read_bytes)
    : graph_(graph),
      fetch_(fetch),
      range_(range),
      held_(held),
      holds_(std::move(holds)),
      read_entries_(std::max<std::uint64_t>(1, read_bytes / sizeof(VertexId))),
      all_entries_(std::max(kCacheEntries, Count(range).all / kManyWindows)) {}

ListStream::Entries ListStream::Count(PlaceRange range) const {
  Entries entries;
  for (NodeId home = 0; home < graph_.nodes(); ++home) {
    const auto [begin, end] = ListsOf(graph_, home, range);
    entries.all += end - begin;
    if (reads(home, range)) entries.read += end - begin;
  }
  return entries;
}

// The longest window from `first` on that is not too large, found by doubling and halving steps.
PlaceRange ListStream::Cut(VertexId first) const {
  VertexId limit = range_.end;
  for (const VertexId border : {held_.first, held_.end}) {
    if (first < border && border < limit) limit = border;
  }
  const std::uint64_t grain = std::uint64_t{kGrain} * graph_.nodes();
  const auto end_after = [&](std::uint64_t grains) {
    return static_cast<VertexId>(std::min<std::uint64_t>(limit, first + grains * grain));
  };
  const auto fit = [&](std::uint64_t grains) {
    const Entries entries = Count({first, end_after(grains)});
    return entries.read <= read_entries_ && entries.all <= all_entries_;
  };
  std::uint64_t fits = 1;
  std::uint64_t step = 1;
  while (end_after(fits) < limit && fit(fits + step)) {
    fits += step;
    step *= 2;
  }
  for (; step > 0; step /= 2) {
    if (fit(fits + step)) fits += step;
  }
  return {first, end_after(fits)};
}

void ListStream::Ask(Slot& slot) {
  const std::uint64_t entries = Count(slot.range).read;
  if (entries > slot.capacity) {
    slot.memory = std::make_unique_for_overwrite<VertexId[]>(entries);
    slot.capacity = entries;
  }
  slot.homes.assign(graph_.nodes(), {});
  VertexId* into = slot.memory.get();
  for (NodeId home = 0; home < graph_.nodes(); ++home) {
    if (!reads(home, slot.range)) continue;
    const auto [begin, end] = ListsOf(graph_, home, slot.range);
    slot.homes[home] = {into, begin};
    if (begin == end) continue;
    if (wanted_.empty()) {
      fetch_.Ask(home, begin, std::span(into, end - begin));
    } else {
      AskForWanted(home, slot.range, slot.homes[home], into);
    }
    into += end - begin;
  }
  slot.fetching = fetch_.Start();
}

// Every list has its place in memory, and those between wanted ones stay unread.
void ListStream::AskForWanted(NodeId home, PlaceRange range, const HomeLists& lists,
                              VertexId* into) {
  const NodeId nodes = graph_.nodes();
  const Displacements& displacements = graph_.displacements();
  std::uint64_t first = lists.begin;
  std::uint64_t end = lists.begin;  // of the run that is put together
  const auto ask = [&] {
    if (end > first) fetch_.Ask(home, first, std::span(into + (first - lists.begin), end - first));
  };
  for (VertexId v = range.first + (home + nodes - range.first % nodes) % nodes; v < range.end;
       v += nodes) {
    if (!wanted_[v]) continue;
    const std::uint64_t begin = displacements.begin(v);
    if (begin > end + ListFetch::kMaxGap || first == end) {
      ask();
      first = begin;
    }
    end = begin + displacements.size(v);
  }
  ask();
}

double ListStream::share_left() const {
  const auto all = static_cast<double>(Count(range_).all);
  const auto left = static_cast<double>(Count({window().end, range_.end}).all);
  return all > 0 ? left / all : 0;
}

Result<bool> ListStream::Next() {
  if (!started_) {
    slots_[0].range = Cut(range_.first);
    Ask(slots_[0]);
    started_ = true;
  }
  current_ = 1 - current_;
  if (slots_[current_].range.first >= range_.end) return false;
  SLIM_TRY(fetch_.Finish(slots_[current_].fetching));
  Slot& next = slots_[1 - current_];
  const VertexId first = slots_[current_].range.end;
  next.range = first < range_.end ? Cut(first) : PlaceRange{range_.end, range_.end};
  if (first < range_.end) Ask(next);
  return true;
}

}  // namespace slimgraph
