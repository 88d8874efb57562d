// The loop of all threads of a node over the lists of some vertices of its share. Lists of memory
// nodes are fetched while lists in this node's memory are visited.
#pragma once

#include <array>
#include <optional>

#include "dgemini/internal/list_readers.h"
#include "dgemini/internal/vertex_lists.h"
#include "slimgraph/base/work_shares.h"

namespace slimgraph::dgemini {

class SparseLoop {
 public:
  // With fewer lists and arcs, one thread works alone: waking other threads would cost more.
  static constexpr std::size_t kSerialLists = 512;
  static constexpr std::uint64_t kSerialArcs = 32 * kSerialLists;

  explicit SparseLoop(const ListReaders& readers) : readers_(readers) {}

  // Calls visit(thread, v, neighbours) for these vertices of the share, and then for the vertices
  // that more(thread) returns, until it returns none. Some vertices earlier, calls prefetch(v),
  // which may prefetch what visit will read of v. `arcs`: about how many arcs the lists have; 0:
  // unknown.
  template <typename Visit, typename Prefetch, typename More>
  Status Run(Direction direction, const VertexLists& vertices, std::uint64_t arcs, Visit visit,
             Prefetch prefetch, More more);

 private:
  template <typename Visit, typename Prefetch, typename More>
  Status RunOnThread(std::uint32_t thread, Direction direction, const VertexLists& vertices,
                     Visit visit, Prefetch prefetch, More more);
  // Of vertices[first .. end-1], visits the lists in this node's memory, and adds the others to the
  // pending fetches.
  template <typename Visit, typename Prefetch, typename Arrive>
  Status Walk(ListReaders::Reader& reader, Direction direction, std::span<const VertexId> vertices,
              std::size_t first, std::size_t end, Visit visit, Prefetch prefetch, Arrive arrive);
  struct Prefetched {
    Neighbours list;
    bool is_here = false;  // in this node's memory
  };
  // Finds the list of `v`, if it is in this node's memory, and prefetches its beginning.
  void PrefetchList(VertexId v, Direction direction, Prefetched& to) const;

  const ListReaders& readers_;
  WorkShares shares_;
  std::size_t piece_ = 64;  // how many lists a thread takes at a time
};

template <typename Visit, typename Prefetch, typename More>
Status SparseLoop::Run(Direction direction, const VertexLists& vertices, std::uint64_t arcs,
                       Visit visit, Prefetch prefetch, More more) {
  const std::size_t size = vertices.size();
  const bool few = size < kSerialLists && arcs < kSerialArcs;
  shares_.Share(size, few ? 1 : readers_.team().threads());
  piece_ = few || size >= kSerialLists ? 64 : 1;  // few lists of many arcs are shared one by one
  const auto on_thread = [&](std::uint32_t t) {
    readers_[t].status = RunOnThread(
        t, direction, vertices, [&](VertexId v, const Neighbours& list) { visit(t, v, list); },
        prefetch, [&] { return more(t); });
  };
  if (few) {
    on_thread(0);
    return std::move(readers_[0].status);
  }
  readers_.team().Run(on_thread);
  return readers_.FirstFailure();
}

template <typename Visit, typename Prefetch, typename More>
Status SparseLoop::RunOnThread(std::uint32_t thread, Direction direction,
                               const VertexLists& vertices, Visit visit, Prefetch prefetch,
                               More more) {
  ListReaders::Reader& reader = readers_[thread];
  const auto arrive = [&](const DelegatedLists& lists, VertexId i, const Neighbours& list) {
    visit(lists.part().first + i, list);
  };
  const auto finish = [&]() -> Status {
    for (std::size_t s = 0; kDelegates && s < reader.pending.size(); ++s) {
      SLIM_TRY(readers_.StartPending(reader, s, direction, arrive));
    }
    while (kDelegates && reader.lists.busy()) SLIM_TRY(reader.lists.VisitArrived(true, arrive));
    return {};
  };
  if (readers_.cancelled()) return Job::CancelledStatus();
  while (const auto piece = shares_.Take(thread, piece_)) {
    Status walked;
    vertices.ForRange(piece->first, piece->second, [&](auto part, auto first, auto end) {
      if (walked) walked = Walk(reader, direction, part, first, end, visit, prefetch, arrive);
    });
    SLIM_TRY(std::move(walked));
    if (kDelegates) SLIM_TRY(reader.lists.VisitArrived(false, arrive));
  }
  SLIM_TRY(finish());
  for (std::span<const VertexId> next = more(); !next.empty(); next = more()) {
    SLIM_TRY(Walk(reader, direction, next, 0, next.size(), visit, prefetch, arrive));
    SLIM_TRY(finish());
  }
  return {};
}

template <typename Visit, typename Prefetch, typename Arrive>
Status SparseLoop::Walk(ListReaders::Reader& reader, Direction direction,
                        std::span<const VertexId> vertices, std::size_t first, std::size_t end,
                        Visit visit, Prefetch prefetch, Arrive arrive) {
  // Lists are scattered in memory: prefetch the offsets of a list first, then the list itself.
  constexpr std::size_t kAhead = 8;
  // The lists at .. at + kAhead - 1, by position. More places, so that each list is found,
  // prefetched and visited in one place: copying what was just written costs more than finding it.
  std::array<Prefetched, 2 * kAhead> prefetched;
  const std::size_t last = std::min(vertices.size(), end + kAhead);
  for (std::size_t i = first; i < std::min(last, first + kAhead); ++i) {
    PrefetchList(vertices[i], direction, prefetched[i % prefetched.size()]);
  }
  for (std::size_t at = first; at < end; ++at) {
    const VertexId v = vertices[at];
    if (at + 2 * kAhead < vertices.size()) {
      const VertexId later = vertices[at + 2 * kAhead];
      readers_.work().PrefetchOffsets(later, direction);
      prefetch(later);
    }
    if (at + kAhead < last) {
      PrefetchList(vertices[at + kAhead], direction, prefetched[(at + kAhead) % prefetched.size()]);
    }
    if (const Prefetched& one = prefetched[at % prefetched.size()]; one.is_here) {
      visit(v, one.list);
      continue;
    }
    const std::uint32_t index = readers_.work().segment_index(v);
    const Workload::Segment& segment = readers_.work().segments()[index];
    auto& pending = reader.pending[index];
    readers_.AddPending(pending, *segment.remote[static_cast<int>(direction)], v - segment.first);
    if (reader.lists.IsBatch(pending.vertices.size(), pending.arcs)) {
      SLIM_TRY(readers_.StartPending(reader, index, direction, arrive));
    }
  }
  return {};
}

[[gnu::always_inline]] inline void SparseLoop::PrefetchList(VertexId v, Direction direction,
                                                            Prefetched& to) const {
  const int d = static_cast<int>(direction);
  const Workload::Segment& segment = readers_.work().segment_of(v);
  const VertexId local = v - segment.first;
  if (segment.is_own()) {
    to.list = ListReaders::OwnList(*segment.own[d], readers_.work().weight_bytes(), local);
  } else {
    const std::optional<Neighbours> cached = segment.remote[d]->Cached(local);
    to.is_here = cached.has_value();
    if (!to.is_here) return;
    to.list = *cached;
  }
  to.is_here = true;
  __builtin_prefetch(to.list.ids.data());
  if (to.list.weights != nullptr) __builtin_prefetch(to.list.weights);
}

}  // namespace slimgraph::dgemini
