#include "dkudu/graph/fetched_lists.h"

#include <algorithm>
#include <limits>
#include <thread>

#include "slimgraph/fabric/operation.h"

namespace slimgraph {
namespace {

constexpr FetchedLists::Ticket kFree = std::numeric_limits<FetchedLists::Ticket>::max();
constexpr std::size_t kFirstBuckets = 64;

// What is kept of each list besides itself: an entry, what is missing, a piece that is asked for,
// and up to four buckets, or six while they grow.
constexpr std::uint64_t kBytesPerList = 128;

}  // namespace

std::uint64_t ListRoom::Bytes(const MiningGraph& graph) const {
  // Between two lists there may be a gap that is brought as well.
  const std::uint64_t brought = graph.nodes() > 1 ? neighbours + lists * ListFetch::kMaxGap : 0;
  return kFirstBuckets * sizeof(FetchedLists::Ticket) + lists * kBytesPerList +
         brought * sizeof(VertexId);
}

ListRoom ListRoom::Within(std::uint64_t bytes, const MiningGraph& graph) {
  ListRoom room{1, graph.sums().most};
  const std::uint64_t least = room.Bytes(graph);
  if (bytes <= least) return room;
  // Half of what is left is for the lists themselves, if they take any.
  const std::uint64_t neighbour_bytes = graph.nodes() > 1 ? (bytes - least) / 2 : 0;
  const std::uint64_t with_one_more = ListRoom{2, room.neighbours}.Bytes(graph) - least;
  room.neighbours += neighbour_bytes / sizeof(VertexId);
  room.lists += (bytes - least - neighbour_bytes) / with_one_more;
  return room;
}

FetchedLists::FetchedLists(const MiningGraph& graph, ListFetch& fetch, ListCache* cache,
                           Reuse reuse, const ListRoom& room)
    : graph_(graph),
      fetch_(fetch),
      cache_(reuse == Reuse::kGlobal ? cache : nullptr),
      reuse_(reuse),
      buckets_(kFirstBuckets, kFree),
      room_(room) {
  static_assert(sizeof(Entry) + sizeof(Missing) + 48 + 6 * sizeof(Ticket) + sizeof(Ticket) <=
                kBytesPerList);
  // Of what is not used, no page is taken.
  entries_.reserve(room.lists);
  missing_.reserve(room.lists);
  awaited_.reserve(room.lists);
}

void FetchedLists::Clear() {
  if (entries_.empty()) return;
  entries_.clear();
  missing_.clear();
  awaited_.clear();
  std::fill(buckets_.begin(), buckets_.end(), kFree);
  neighbours_ = 0;
}

std::size_t FetchedLists::BucketOf(VertexId v) const {
  const std::size_t mask = buckets_.size() - 1;
  std::size_t at = (v * std::uint64_t{0x9E3779B97F4A7C15}) >> 32 & mask;
  while (buckets_[at] != kFree && entries_[buckets_[at]].vertex != v) at = (at + 1) & mask;
  return at;
}

bool FetchedLists::IsBringing(VertexId v) const {
  if (missing_.empty()) return false;
  const Ticket ticket = buckets_[BucketOf(v)];
  return ticket != kFree && entries_[ticket].list.data() != nullptr;
}

void FetchedLists::Grow() {
  buckets_.assign(buckets_.size() * 2, kFree);
  for (Ticket ticket = 0; ticket < entries_.size(); ++ticket) {
    buckets_[BucketOf(entries_[ticket].vertex)] = ticket;
  }
}

bool FetchedLists::HasRoomFor(List vertices) const {
  std::uint64_t neighbours = neighbours_;
  for (const VertexId v : vertices) neighbours += graph_.is_own(v) ? 0 : graph_.degree(v);
  return entries_.size() + vertices.size() <= room_.lists && neighbours <= room_.neighbours;
}

FetchedLists::Ticket FetchedLists::Add(VertexId v) {
  const auto ticket = static_cast<Ticket>(entries_.size());
  if (reuse_ != Reuse::kNone) {
    if (2 * (entries_.size() + 1) > buckets_.size()) Grow();
    Ticket& bucket = buckets_[BucketOf(v)];
    if (bucket != kFree) return bucket;
    bucket = ticket;
  }
  const NodeId home = graph_.home(v);
  if (home == graph_.self()) {
    entries_.push_back({v, graph_.own(v)});
    return ticket;
  }
  if (cache_ != nullptr) {
    if (const auto kept = cache_->Find(v)) {
      entries_.push_back({v, *kept});
      return ticket;
    }
  }
  const Displacements& displacements = graph_.displacements();
  const std::uint32_t size = displacements.size(v);
  entries_.push_back({v, List(static_cast<const VertexId*>(nullptr), size)});
  if (size == 0) return ticket;
  if (cache_ != nullptr && cache_->keeps(v) && earlier_ != nullptr && earlier_->IsBringing(v)) {
    awaited_.push_back(ticket);
    return ticket;
  }
  missing_.push_back({home, displacements.begin(v), ticket});
  neighbours_ += size;
  return ticket;
}

// missing_[first, last) lie close together in one home.
void FetchedLists::AskForRun(std::size_t first, std::size_t last, VertexId* into) {
  const std::uint64_t begin = missing_[first].begin;
  std::uint64_t end = begin;
  for (std::size_t i = first; i < last; ++i) {
    List& list = entries_[missing_[i].ticket].list;
    list = List(into + (missing_[i].begin - begin), list.size());
    end = std::max(end, missing_[i].begin + list.size());
  }
  fetch_.Ask(missing_[first].home, begin, std::span(into, end - begin));
}

void FetchedLists::Start() {
  if (missing_.empty()) return;
  std::sort(missing_.begin(), missing_.end(), [](const Missing& a, const Missing& b) {
    return std::pair(a.home, a.begin) < std::pair(b.home, b.begin);
  });
  // No gap is longer than ListFetch::kMaxGap, and there are fewer of them than lists.
  const std::uint64_t needed = neighbours_ + missing_.size() * ListFetch::kMaxGap;
  if (needed > capacity_) {
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<VertexId[]>(needed);
    capacity_ = needed;
  }
  VertexId* into = memory_.get();
  for (std::size_t first = 0; first < missing_.size();) {
    const auto end_of = [&](std::size_t i) {
      return missing_[i].begin + entries_[missing_[i].ticket].list.size();
    };
    std::uint64_t end = end_of(first);
    std::size_t last = first + 1;
    while (reuse_ != Reuse::kNone && last < missing_.size() &&
           missing_[last].home == missing_[first].home &&
           missing_[last].begin <= end + ListFetch::kMaxGap) {
      end = std::max(end, end_of(last++));
    }
    AskForRun(first, last, into);
    into += end - missing_[first].begin;
    first = last;
  }
  fetching_ = fetch_.Start();
}

Status FetchedLists::Finish() {
  TakeFromCache();
  if (missing_.empty()) return {};
  SLIM_TRY(fetch_.Finish(fetching_));
  if (cache_ != nullptr) {
    for (const Missing& one : missing_) {
      cache_->Keep(entries_[one.ticket].vertex, entries_[one.ticket].list);
    }
  }
  missing_.clear();
  return {};
}

void FetchedLists::TakeFromCache() {
  for (const Ticket ticket : awaited_) {
    Entry& entry = entries_[ticket];
    auto kept = cache_->Find(entry.vertex);
    // Another thread may just be copying it there.
    for (; !kept; kept = cache_->Find(entry.vertex)) std::this_thread::yield();
    entry.list = *kept;
  }
  awaited_.clear();
}

}  // namespace slimgraph
