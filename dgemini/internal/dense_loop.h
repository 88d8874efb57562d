// The loop of all threads of a node over all lists of its share, in the order of memory. Lists of
// memory nodes are fetched while lists in this node's memory are visited.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <type_traits>

#include "dgemini/internal/list_readers.h"
#include "slimgraph/base/interleave.h"
#include "slimgraph/base/work_shares.h"

namespace slimgraph::dgemini {

class DenseLoop {
 public:
  explicit DenseLoop(const ListReaders& readers) : readers_(readers) {}

  // Calls visit(thread, v, neighbours) for the lists of the share's vertices with wants(v). If
  // `wants` returns std::true_type, all lists are visited, in the order of memory. A vertex for
  // which visit returns true is found: sink(thread, word, bits) receives the found vertices of one
  // word of a bitmap at a time. `which`: all lists of the share, or those in this node's memory.
  enum class Which { kAll, kOwn };
  template <typename Wants, typename Visit, typename Sink>
  Status Run(Direction direction, Wants wants, Visit visit, Sink sink, Which which = Which::kAll);

 private:
  static constexpr std::uint64_t kVertexNs = 2;  // in simulations; an arc takes 1 ns

  template <typename Wants, typename Visit, typename Sink>
  Status RunOnThread(std::uint32_t thread, Direction direction, Wants wants, Visit visit,
                     Sink sink);
  template <typename Wants, typename Visit, typename Sink>
  void VisitOwnBlock(const Workload::Block& block, Direction direction, Wants wants, Visit visit,
                     Sink sink) const;
  template <typename Wants, typename Visit, typename Sink, typename Arrive>
  Status VisitRemoteBlock(ListReaders::Reader& reader, const Workload::Block& block,
                          Direction direction, Wants wants, Visit visit, Sink sink, Arrive arrive);

  const ListReaders& readers_;
  WorkShares shares_;
  std::atomic<std::size_t> next_remote_{0};
};

template <typename Wants, typename Visit, typename Sink>
Status DenseLoop::Run(Direction direction, Wants wants, Visit visit, Sink sink, Which which) {
  shares_.Share(readers_.work().own_blocks().size(), readers_.team().threads());
  next_remote_ = which == Which::kAll ? 0 : readers_.work().remote_blocks().size();
  readers_.team().Run([&](std::uint32_t t) {
    readers_[t].status = RunOnThread(
        t, direction, wants, [&](VertexId v, const Neighbours& list) { return visit(t, v, list); },
        [&](std::size_t word, std::uint64_t bits) { sink(t, word, bits); });
  });
  return readers_.FirstFailure();
}

template <typename Wants, typename Visit, typename Sink>
Status DenseLoop::RunOnThread(std::uint32_t thread, Direction direction, Wants wants, Visit visit,
                              Sink sink) {
  const auto& own = readers_.work().own_blocks();
  const auto& remote = readers_.work().remote_blocks();
  ListReaders::Reader& reader = readers_[thread];
  std::uint32_t filling = 0;  // the segment that pending lists are added to
  const auto arrive = [&](const DelegatedLists& lists, VertexId i, const Neighbours& list) {
    const VertexId v = lists.part().first + i;
    if (visit(v, list)) sink(v / 64, std::uint64_t{1} << (v % 64));
  };
  bool more_remote = kDelegates && !remote.empty();
  bool more_own = true;
  while (more_remote || more_own || (kDelegates && reader.lists.busy())) {
    if (readers_.cancelled()) return Job::CancelledStatus();
    while (kDelegates && more_remote && reader.lists.has_room()) {
      const std::size_t i = next_remote_.fetch_add(1, std::memory_order_relaxed);
      more_remote = i < remote.size();
      if (!more_remote || remote[i].segment != filling) {
        SLIM_TRY(readers_.StartPending(reader, filling, direction, arrive));
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

template <typename Wants, typename Visit, typename Sink>
void DenseLoop::VisitOwnBlock(const Workload::Block& block, Direction direction, Wants wants,
                              Visit visit, Sink sink) const {
  const Workload::Segment& segment = readers_.work().segments()[block.segment];
  const ListSpans& own = *segment.own[static_cast<int>(direction)];
  const std::size_t weight_bytes = readers_.work().weight_bytes();
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
    Neighbours list = ListReaders::OwnList(own, weight_bytes, v - segment.first);
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
    SimulateWork(own.offsets[block.end - segment.first] - own.offsets[block.first - segment.first] +
                 kVertexNs * (block.end - block.first));
    return;
  }
  // The wanted vertices of a word. Prefetches their lists. The first loop has no branch for each
  // vertex, which the processor would often guess wrongly.
  const auto wanted_of = [&](std::size_t word) {
    std::uint64_t wanted = 0;
    for (VertexId v = first_of(word), end = end_of(word); v < end; ++v) {
      wanted |= std::uint64_t{wants(v)} << (v % 64);
    }
    for (std::uint64_t bits = wanted; bits != 0; bits &= bits - 1) {
      const std::uint64_t v = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
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

template <typename Wants, typename Visit, typename Sink, typename Arrive>
Status DenseLoop::VisitRemoteBlock(ListReaders::Reader& reader, const Workload::Block& block,
                                   Direction direction, Wants wants, Visit visit, Sink sink,
                                   Arrive arrive) {
  const Workload::Segment& segment = readers_.work().segments()[block.segment];
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
    if (lists.cache() != nullptr && lists.cache()->HasDecoded(group)) {
      Prefetched& next = groups[turn];
      turn = 1 - turn;
      const VertexId after = group + 1;
      const bool more = after < lists.index()->groups() && lists.cache()->HasDecoded(after);
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
      if (!wants(segment.first + i)) continue;
      readers_.AddPending(pending, lists, i);
      if (!reader.lists.naive()) continue;
      SLIM_TRY(readers_.StartPending(reader, block.segment, direction, arrive));
    }
    if (reader.lists.IsBatch(pending.vertices.size(), pending.arcs)) {
      SLIM_TRY(readers_.StartPending(reader, block.segment, direction, arrive));
    }
  }
  visit_prefetched(groups[1 - turn]);
  return {};
}

}  // namespace slimgraph::dgemini
