// Loops of all threads of a node over lists of its share: they call visit(thread, v, neighbours)
// for each wanted list. Lists of memory nodes are fetched while lists in this node's memory are
// visited.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "dgemini/internal/vertex_lists.h"
#include "dgemini/workload.h"
#include "slimgraph/base/thread_team.h"
#include "slimgraph/base/work_shares.h"
#include "slimgraph/remote/list_reader.h"

namespace slimgraph {

class ListLoop {
 public:
  // With fewer lists, one thread works alone: waking other threads would cost more.
  static constexpr std::size_t kSerialLists = 512;

  ListLoop(Workload& work, Fabric& fabric, ThreadTeam& team) : work_(work), team_(team) {
    for (std::uint32_t t = 0; t < team.threads(); ++t) {
      readers_.push_back(std::make_unique<Reader>(fabric, t, work));
    }
  }

  // Visits the lists of the share's vertices with wants(v). If `wants` returns std::true_type, all
  // lists are visited, in the order of memory. A vertex for which visit returns true is found:
  // sink(thread, word, bits) receives the found vertices of one word of a bitmap at a time.
  template <typename Wants, typename Visit, typename Sink>
  Status Dense(Direction direction, Wants wants, Visit visit, Sink sink);

  // Visits the lists of these vertices of the share, and then those of the vertices that
  // more(thread) returns, until it returns none.
  template <typename Visit, typename More>
  Status Sparse(Direction direction, const VertexLists& vertices, Visit visit, More more);

  // The time of the thread that waited longest.
  std::uint64_t waited_ns() const;
  // The sum over all threads.
  FetchTimes fetch_times() const;

 private:
  // Vertices of one segment whose lists are to be fetched in the next batch.
  struct Pending {
    std::vector<VertexId> vertices;
    EdgeOffset arcs = 0;
  };
  struct Reader {
    Reader(Fabric& fabric, std::uint32_t thread, Workload& work)
        : lists(fabric.endpoint(thread), fabric, work.answers()), pending(work.segments().size()) {}
    ListReader lists;
    std::vector<Pending> pending;  // by segment
    Status status;
  };

  static Neighbours OwnList(const ListSpans& own, std::size_t weight_bytes, VertexId local) {
    const EdgeOffset begin = own.offsets[local];
    const EdgeOffset end = own.offsets[local + std::size_t{1}];
    return {{own.neighbours.data() + begin, end - begin},
            weight_bytes == 0 ? nullptr : own.weights.data() + begin * weight_bytes};
  }

  static void AddPending(Pending& pending, const DelegatedLists& lists, VertexId v) {
    pending.vertices.push_back(v);
    pending.arcs += lists.ExpectedLength(v);
  }

  // The list of `v`, if it is in this node's memory. Prefetches its beginning.
  std::optional<Neighbours> PrefetchList(VertexId v, Direction direction) const;
  template <typename Wants, typename Visit, typename Sink>
  void VisitOwnBlock(const Workload::Block& block, Direction direction, Wants wants, Visit visit,
                     Sink sink) const;
  template <typename Wants, typename Visit, typename Sink, typename Arrive>
  Status VisitRemoteBlock(Reader& reader, const Workload::Block& block, Direction direction,
                          Wants wants, Visit visit, Sink sink, Arrive arrive);
  template <typename Wants, typename Visit, typename Sink>
  Status DenseOnThread(std::uint32_t thread, Direction direction, Wants wants, Visit visit,
                       Sink sink);
  template <typename Visit, typename More>
  Status SparseOnThread(std::uint32_t thread, Direction direction, const VertexLists& vertices,
                        Visit visit, More more);
  // Of vertices[first .. end-1], visits the lists in this node's memory, and adds the others to the
  // pending fetches.
  template <typename Visit, typename Arrive>
  Status Walk(Reader& reader, Direction direction, std::span<const VertexId> vertices,
              std::size_t first, std::size_t end, Visit visit, Arrive arrive);
  // Starts the pending fetch of a segment; waits until the reader has room.
  template <typename Arrive>
  Status StartPending(Reader& reader, std::size_t segment, Direction direction, Arrive arrive);
  Status FirstFailure();

  Workload& work_;
  ThreadTeam& team_;
  std::vector<std::unique_ptr<Reader>> readers_;  // by thread
  WorkShares shares_;
  std::atomic<std::size_t> next_remote_{0};
};

template <typename Wants, typename Visit, typename Sink>
Status ListLoop::Dense(Direction direction, Wants wants, Visit visit, Sink sink) {
  shares_.Share(work_.own_blocks().size(), team_.threads());
  next_remote_ = 0;
  team_.Run([&](std::uint32_t t) {
    readers_[t]->status = DenseOnThread(
        t, direction, wants, [&](VertexId v, const Neighbours& list) { return visit(t, v, list); },
        [&](std::size_t word, std::uint64_t bits) { sink(t, word, bits); });
  });
  return FirstFailure();
}

template <typename Visit, typename More>
Status ListLoop::Sparse(Direction direction, const VertexLists& vertices, Visit visit, More more) {
  const std::size_t size = vertices.size();
  const bool few = size < kSerialLists;
  shares_.Share(size, few ? 1 : team_.threads());
  const auto on_thread = [&](std::uint32_t t) {
    readers_[t]->status = SparseOnThread(
        t, direction, vertices, [&](VertexId v, const Neighbours& list) { visit(t, v, list); },
        [&] { return more(t); });
  };
  if (few) {
    on_thread(0);
    return std::move(readers_[0]->status);
  }
  team_.Run(on_thread);
  return FirstFailure();
}

template <typename Wants, typename Visit, typename Sink>
void ListLoop::VisitOwnBlock(const Workload::Block& block, Direction direction, Wants wants,
                             Visit visit, Sink sink) const {
  const Workload::Segment& segment = work_.segments()[block.segment];
  const ListSpans& own = *segment.own[static_cast<int>(direction)];
  const std::size_t weight_bytes = work_.weight_bytes();
  const auto first_of = [&](std::size_t word) {
    return static_cast<VertexId>(std::max<std::uint64_t>(word * 64, block.first));
  };
  const auto end_of = [&](std::size_t word) {
    return static_cast<VertexId>(std::min<std::uint64_t>(word * 64 + 64, block.end));
  };
  const std::size_t words_end = (std::size_t{block.end} + 63) / 64;
  constexpr bool kAll = std::is_same_v<decltype(wants(VertexId{})), std::true_type>;
  const VertexId* const ids_end = own.neighbours.data() + own.neighbours.size();
  const auto visit_at = [&](VertexId v) {
    Neighbours list = OwnList(own, weight_bytes, v - segment.first);
    if (kAll)
      list.ids_following = static_cast<std::size_t>(ids_end - list.ids.data()) - list.ids.size();
    return std::uint64_t{visit(v, list)} << (v % 64);
  };
  if constexpr (kAll) {
    for (std::size_t word = block.first / 64; word < words_end; ++word) {
      std::uint64_t bits = 0;
      for (VertexId v = first_of(word), end = end_of(word); v < end; ++v) bits |= visit_at(v);
      if (bits != 0) sink(word, bits);
    }
    return;
  }
  // The wanted vertices of a word. Prefetches their lists.
  const auto wanted_of = [&](std::size_t word) {
    std::uint64_t wanted = 0;
    for (VertexId v = first_of(word), end = end_of(word); v < end; ++v) {
      if (!wants(v)) continue;
      wanted |= std::uint64_t{1} << (v % 64);
      __builtin_prefetch(own.neighbours.data() + own.offsets[v - segment.first]);
    }
    return wanted;
  };
  std::uint64_t next = wanted_of(block.first / 64);
  for (std::size_t word = block.first / 64; word < words_end; ++word) {
    std::uint64_t wanted = next;
    next = word + 1 < words_end ? wanted_of(word + 1) : 0;
    std::uint64_t bits = 0;
    for (; wanted != 0; wanted &= wanted - 1) {
      bits |= visit_at(
          static_cast<VertexId>(word * 64 + static_cast<std::size_t>(std::countr_zero(wanted))));
    }
    if (bits != 0) sink(word, bits);
  }
}

[[gnu::always_inline]] inline std::optional<Neighbours> ListLoop::PrefetchList(
    VertexId v, Direction direction) const {
  const int d = static_cast<int>(direction);
  const Workload::Segment& segment = work_.segment_of(v);
  const VertexId local = v - segment.first;
  std::optional<Neighbours> list;
  if (segment.is_own()) {
    list = OwnList(*segment.own[d], work_.weight_bytes(), local);
  } else {
    list = segment.remote[d]->Cached(local);
    if (!list) return list;
  }
  __builtin_prefetch(list->ids.data());
  if (list->weights != nullptr) __builtin_prefetch(list->weights);
  return list;
}

template <typename Wants, typename Visit, typename Sink, typename Arrive>
Status ListLoop::VisitRemoteBlock(Reader& reader, const Workload::Block& block, Direction direction,
                                  Wants wants, Visit visit, Sink sink, Arrive arrive) {
  const Workload::Segment& segment = work_.segments()[block.segment];
  DelegatedLists& lists = *segment.remote[static_cast<int>(direction)];
  constexpr VertexId kGroup = CompactOffsets::kGroup;
  auto& pending = reader.pending[block.segment];
  constexpr bool kAll = std::is_same_v<decltype(wants(VertexId{})), std::true_type>;
  EdgeOffset cached_end = 0;  // the end of the group, or of the next one if that is cached, too
  const auto visit_cached = [&](VertexId v, EdgeOffset begin, EdgeOffset length) {
    Neighbours list = lists.cache()->List(begin, length);
    if (kAll) list.ids_following = cached_end - begin - length;
    if (visit(v, list)) sink(v / 64, std::uint64_t{1} << (v % 64));
  };
  // Prefetches the wanted lists of one group while those of the previous group are visited.
  struct Prefetched {
    struct One {
      VertexId v;
      EdgeOffset begin;
      EdgeOffset length;
    };
    std::array<One, kGroup> lists;
    std::size_t count = 0;
  };
  std::array<Prefetched, 2> groups;
  int turn = 0;
  const auto visit_prefetched = [&](Prefetched& prefetched) {
    for (std::size_t i = 0; i < prefetched.count; ++i) {
      visit_cached(prefetched.lists[i].v, prefetched.lists[i].begin, prefetched.lists[i].length);
    }
    prefetched.count = 0;
  };
  for (VertexId i = block.first - segment.first; i < block.end - segment.first;) {
    const VertexId group = i / kGroup;
    const VertexId end = std::min((group + 1) * kGroup, block.end - segment.first);
    if (lists.cache() != nullptr && lists.cache()->Has(group)) {
      Prefetched& next = groups[turn];
      turn = 1 - turn;
      const VertexId after = group + 1;
      const bool more = after < lists.index()->groups() && lists.cache()->Has(after);
      cached_end = lists.index()->group_begin(after + (more ? 1 : 0));
      lists.index()->VisitGroup(group, i, end,
                                [&](VertexId at, CompactOffsets::ListLocation location) {
                                  const VertexId v = segment.first + at;
                                  if constexpr (kAll) {
                                    visit_cached(v, location.begin, location.length);
                                  } else if (wants(v)) {
                                    lists.cache()->Prefetch(location.begin);
                                    next.lists[next.count++] = {v, location.begin, location.length};
                                  }
                                });
      visit_prefetched(groups[turn]);
      i = end;
      continue;
    }
    for (; i < end; ++i) {
      if (wants(segment.first + i)) AddPending(pending, lists, i);
    }
    if (reader.lists.IsBatch(pending.vertices.size(), pending.arcs)) {
      SLIM_TRY(StartPending(reader, block.segment, direction, arrive));
    }
  }
  visit_prefetched(groups[1 - turn]);
  return {};
}

template <typename Arrive>
Status ListLoop::StartPending(Reader& reader, std::size_t segment, Direction direction,
                              Arrive arrive) {
  Pending& pending = reader.pending[segment];
  if (pending.vertices.empty()) return {};
  while (!reader.lists.has_room()) SLIM_TRY(reader.lists.VisitArrived(true, arrive));
  reader.lists.StartFetch(*work_.segments()[segment].remote[static_cast<int>(direction)],
                          pending.vertices);
  pending.arcs = 0;
  return {};
}

template <typename Wants, typename Visit, typename Sink>
Status ListLoop::DenseOnThread(std::uint32_t thread, Direction direction, Wants wants, Visit visit,
                               Sink sink) {
  const auto& own = work_.own_blocks();
  const auto& remote = work_.remote_blocks();
  Reader& reader = *readers_[thread];
  std::uint32_t filling = 0;  // the segment that pending lists are added to
  const auto arrive = [&](const DelegatedLists& lists, VertexId i, const Neighbours& list) {
    const VertexId v = lists.part().first + i;
    if (visit(v, list)) sink(v / 64, std::uint64_t{1} << (v % 64));
  };
  bool more_remote = kDelegates && !remote.empty();
  bool more_own = true;
  while (more_remote || more_own || (kDelegates && reader.lists.busy())) {
    while (kDelegates && more_remote && reader.lists.has_room()) {
      const std::size_t i = next_remote_.fetch_add(1, std::memory_order_relaxed);
      more_remote = i < remote.size();
      if (!more_remote || remote[i].segment != filling) {
        SLIM_TRY(StartPending(reader, filling, direction, arrive));
      }
      if (!more_remote) break;
      filling = remote[i].segment;
      SLIM_TRY(VisitRemoteBlock(reader, remote[i], direction, wants, visit, sink, arrive));
    }
    if (more_own) {
      const auto block = shares_.Take(thread, 1);
      more_own = block.has_value();
      if (more_own) VisitOwnBlock(own[block->first], direction, wants, visit, sink);
    }
    if (kDelegates) SLIM_TRY(reader.lists.VisitArrived(!more_own, arrive));
  }
  return {};
}

template <typename Visit, typename Arrive>
Status ListLoop::Walk(Reader& reader, Direction direction, std::span<const VertexId> vertices,
                      std::size_t first, std::size_t end, Visit visit, Arrive arrive) {
  // Lists are scattered in memory: prefetch the offsets of a list first, then the list itself.
  constexpr std::size_t kAhead = 8;
  const int d = static_cast<int>(direction);
  std::array<std::optional<Neighbours>, kAhead> prefetched;  // lists at .. at + kAhead - 1
  const std::size_t last = std::min(vertices.size(), end + kAhead);
  for (std::size_t i = first; i < std::min(last, first + kAhead); ++i) {
    prefetched[i % kAhead] = PrefetchList(vertices[i], direction);
  }
  for (std::size_t at = first; at < end; ++at) {
    const VertexId v = vertices[at];
    const std::optional<Neighbours> list = prefetched[at % kAhead];
    if (at + 2 * kAhead < vertices.size()) {
      work_.PrefetchOffsets(vertices[at + 2 * kAhead], direction);
    }
    if (at + kAhead < last)
      prefetched[at % kAhead] = PrefetchList(vertices[at + kAhead], direction);
    if (list) {
      visit(v, *list);
      continue;
    }
    const std::uint32_t index = work_.segment_index(v);
    const Workload::Segment& segment = work_.segments()[index];
    auto& pending = reader.pending[index];
    AddPending(pending, *segment.remote[d], v - segment.first);
    if (reader.lists.IsBatch(pending.vertices.size(), pending.arcs)) {
      SLIM_TRY(StartPending(reader, index, direction, arrive));
    }
  }
  return {};
}

template <typename Visit, typename More>
Status ListLoop::SparseOnThread(std::uint32_t thread, Direction direction,
                                const VertexLists& vertices, Visit visit, More more) {
  constexpr std::size_t kPiece = 64;
  Reader& reader = *readers_[thread];
  const auto arrive = [&](const DelegatedLists& lists, VertexId i, const Neighbours& list) {
    visit(lists.part().first + i, list);
  };
  const auto finish = [&]() -> Status {
    for (std::size_t s = 0; kDelegates && s < reader.pending.size(); ++s) {
      SLIM_TRY(StartPending(reader, s, direction, arrive));
    }
    while (kDelegates && reader.lists.busy()) SLIM_TRY(reader.lists.VisitArrived(true, arrive));
    return {};
  };
  while (const auto piece = shares_.Take(thread, kPiece)) {
    Status walked;
    vertices.ForRange(piece->first, piece->second, [&](auto part, auto first, auto end) {
      if (walked) walked = Walk(reader, direction, part, first, end, visit, arrive);
    });
    SLIM_TRY(std::move(walked));
    if (kDelegates) SLIM_TRY(reader.lists.VisitArrived(false, arrive));
  }
  SLIM_TRY(finish());
  for (std::span<const VertexId> next = more(); !next.empty(); next = more()) {
    SLIM_TRY(Walk(reader, direction, next, 0, next.size(), visit, arrive));
    SLIM_TRY(finish());
  }
  return {};
}

inline Status ListLoop::FirstFailure() {
  for (const auto& reader : readers_) {
    if (!reader->status) return reader->status;
  }
  return {};
}

inline std::uint64_t ListLoop::waited_ns() const {
  std::uint64_t most = 0;
  for (const auto& reader : readers_) most = std::max(most, reader->lists.times().waited_ns);
  return most;
}

inline FetchTimes ListLoop::fetch_times() const {
  FetchTimes sum;
  for (const auto& reader : readers_) {
    sum.under_way_ns += reader->lists.times().under_way_ns;
    sum.waited_ns += reader->lists.times().waited_ns;
  }
  return sum;
}

}  // namespace slimgraph
