#include "dkudu/internal/graph/fetched_lists.h"

#include <algorithm>
#include <limits>

#include "slimgraph/base/check.h"
#include "slimgraph/base/sync.h"

namespace slimgraph::dkudu {
namespace {

constexpr FetchedLists::Ticket kFree = std::numeric_limits<FetchedLists::Ticket>::max();
constexpr std::size_t kFirstBuckets = 64;

// The bookkeeping for each fetched list: an entry, a missing record, a piece of a request, and up
// to four hash buckets, or six while the table grows.
constexpr std::uint64_t kBytesPerList = 128;
// The bookkeeping for each list of this node's own: an entry and hash buckets.
constexpr std::uint64_t kBytesPerOwnList = 48;
// The memory for coded bytes, per neighbour, in addition to the longest coded list.
constexpr std::uint64_t kCodedBytesPerNeighbour = 2;

}  // namespace

std::uint64_t ListRoom::CodedBytes(const MiningGraph& graph) const {
  return graph.code().Bytes(graph.sums().most) + neighbours * kCodedBytesPerNeighbour;
}

std::uint64_t ListRoom::Bytes(const MiningGraph& graph) const {
  const std::uint64_t buckets = kFirstBuckets * sizeof(FetchedLists::Ticket);
  if (graph.nodes() == 1) return buckets + lists * kBytesPerOwnList;
  // Two adjacent reads may be merged with the gap between them.
  return buckets + lists * (kBytesPerList + ListFetch::kMaxGapBytes) +
         neighbours * sizeof(VertexId) + CodedBytes(graph) + ListCode::kSlackBytes;
}

std::uint64_t ListRoom::BytesTaken(const MiningGraph& graph, const ListRoom& most) const {
  return ListRoom{std::min(lists, most.lists),
                  std::min({neighbours, most.neighbours, graph.remote_arcs()})}
      .Bytes(graph);
}

ListRoom ListRoom::Within(std::uint64_t bytes, const MiningGraph& graph) {
  ListRoom room{1, graph.sums().most};
  const std::uint64_t least = room.Bytes(graph);
  if (bytes <= least) return room;
  // Half of the remaining bytes are for the neighbours, if any list is remote.
  const std::uint64_t neighbour_bytes = graph.nodes() > 1 ? (bytes - least) / 2 : 0;
  const std::uint64_t with_one_more = ListRoom{2, room.neighbours}.Bytes(graph) - least;
  room.neighbours += neighbour_bytes / (sizeof(VertexId) + kCodedBytesPerNeighbour);
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
      room_(room),
      room_coded_bytes_(room.CodedBytes(graph)) {
  static_assert(sizeof(Entry) + 6 * sizeof(Ticket) <= kBytesPerOwnList);
  static_assert(sizeof(Entry) + sizeof(Missing) + 48 + 6 * sizeof(Ticket) + sizeof(Ticket) <=
                kBytesPerList);
  // A page that is reserved but never written takes no memory.
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
  coded_bytes_ = 0;
}

std::size_t FetchedLists::BucketOf(VertexId v) const {
  const std::size_t mask = buckets_.size() - 1;
  std::size_t at = (v * std::uint64_t{0x9E3779B97F4A7C15}) >> 32 & mask;
  while (buckets_[at] != kFree && entries_[buckets_[at]].vertex != v) at = (at + 1) & mask;
  return at;
}

bool FetchedLists::IsFetching(VertexId v) const {
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
  std::uint64_t coded_bytes = coded_bytes_;
  for (const VertexId v : vertices) {
    if (graph_.is_own(v)) continue;
    const EdgeOffset degree = graph_.degree(v);
    neighbours += degree;
    coded_bytes += graph_.code().Bytes(degree);
  }
  return entries_.size() + vertices.size() <= room_.lists && neighbours <= room_.neighbours &&
         coded_bytes <= room_coded_bytes_;
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
  const EdgeOffset degree = graph_.degree(v);
  entries_.push_back({v, List(static_cast<const VertexId*>(nullptr), degree)});
  if (degree == 0) return ticket;
  if (cache_ != nullptr && cache_->keeps(v) && earlier_ != nullptr && earlier_->IsFetching(v)) {
    awaited_.push_back(ticket);
    return ticket;
  }
  missing_.push_back({graph_.FindByte(v), home, ticket});
  neighbours_ += degree;
  if (graph_.in_place(home) == nullptr) coded_bytes_ += graph_.code().Bytes(degree);
  return ticket;
}

// Requests missing_[first, last) in one read, which lie close together at one home and end at byte
// `end`.
void FetchedLists::CollectAdjacent(std::size_t first, std::size_t last, std::uint64_t end,
                                   std::uint64_t into) {
  const std::uint64_t begin = missing_[first].begin;
  for (std::size_t i = first; i < last; ++i) missing_[i].begin += into - begin;
  fetch_.Collect(missing_[first].home, begin, MutableBytes(coded_.get() + into, end - begin));
}

// Gaps are at most ListFetch::kMaxGapBytes long, and there are fewer gaps than lists.
void FetchedLists::MakeRoom() {
  const std::uint64_t coded =
      coded_bytes_ + missing_.size() * ListFetch::kMaxGapBytes + ListCode::kSlackBytes;
  if (coded > coded_capacity_) {
    coded_.reset();
    coded_ = std::make_unique_for_overwrite<std::byte[]>(coded);
    coded_capacity_ = coded;
  }
  if (neighbours_ > capacity_) {
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<VertexId[]>(neighbours_);
    capacity_ = neighbours_;
  }
}

void FetchedLists::Start() {
  if (missing_.empty()) return;
  std::sort(missing_.begin(), missing_.end(), [](const Missing& a, const Missing& b) {
    return std::pair(a.home, a.begin) < std::pair(b.home, b.begin);
  });
  MakeRoom();
  VertexId* decoded = memory_.get();
  for (const Missing& one : missing_) {
    List& list = entries_[one.ticket].list;
    list = List(decoded, list.size());
    decoded += list.size();
  }
  std::uint64_t into = 0;
  for (std::size_t first = 0; first < missing_.size();) {
    if (graph_.in_place(missing_[first].home) != nullptr) {
      ++first;
      continue;
    }
    const std::uint64_t begin = missing_[first].begin;
    std::uint64_t end = begin + CodedBytes(missing_[first]);
    std::size_t last = first + 1;
    while (reuse_ != Reuse::kNone && last < missing_.size() &&
           missing_[last].home == missing_[first].home &&
           missing_[last].begin <= end + ListFetch::kMaxGapBytes) {
      end = missing_[last].begin + CodedBytes(missing_[last]);
      ++last;
    }
    CollectAdjacent(first, last, end, into);
    into += end - begin;
    first = last;
  }
  fetching_ = fetch_.Start();
}

void FetchedLists::Decode() {
  VertexId* decoded = memory_.get();
  for (const Missing& one : missing_) {
    const std::size_t size = entries_[one.ticket].list.size();
    const std::byte* const in_place = graph_.in_place(one.home);
    const std::byte* const coded = (in_place == nullptr ? coded_.get() : in_place) + one.begin;
    SLIM_CHECK(graph_.code().Decode(coded, std::span(decoded, size)),
               "node {} keeps a list that cannot be decoded", one.home);
    decoded += size;
  }
}

Status FetchedLists::Finish() {
  TakeFromCache();
  if (missing_.empty()) return {};
  SLIM_TRY(fetch_.Finish(fetching_));
  Decode();
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
    // Another thread may still be copying the list into the cache.
    for (; !kept; kept = cache_->Find(entry.vertex)) Yield();
    entry.list = *kept;
  }
  awaited_.clear();
}

}  // namespace slimgraph::dkudu
