// The readers of a node's threads for lists of other nodes, which dense_loop.h and sparse_loop.h
// share.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "dgemini/workload.h"
#include "slimgraph/base/thread_team.h"
#include "slimgraph/remote/list_reader.h"

namespace slimgraph::dgemini {

class ListReaders {
 public:
  // Vertices of one segment whose lists are to be fetched in the next batch.
  struct Pending {
    std::vector<VertexId> vertices;
    EdgeOffset arcs = 0;
  };
  struct Reader {
    Reader(Fabric& fabric, std::uint32_t thread, Workload& work)
        : lists(fabric.endpoint(thread), fabric, work.answers(),
                work.cache().level == CacheLevel::kNaive),
          pending(work.segments().size()) {}
    ListReader lists;
    std::vector<Pending> pending;  // by segment
    Status status;
  };

  ListReaders(Workload& work, Cluster& cluster, ThreadTeam& team)
      : work_(work), job_(cluster.job()), team_(team) {
    for (std::uint32_t t = 0; t < team.threads(); ++t) {
      readers_.push_back(std::make_unique<Reader>(cluster.fabric(), t, work));
    }
  }

  Workload& work() const { return work_; }
  ThreadTeam& team() const { return team_; }
  // Whether loops should end early. Cheap enough to be asked for each block of lists.
  bool cancelled() const { return job_.cancelled(); }
  Reader& operator[](std::uint32_t thread) const { return *readers_[thread]; }

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
  // Starts the pending fetch of a segment; waits until the reader has room.
  template <typename Arrive>
  Status StartPending(Reader& reader, std::size_t segment, Direction direction,
                      Arrive arrive) const;

  Status FirstFailure() const;
  // The time of the thread that waited longest.
  std::uint64_t waited_ns() const;
  // The sum over all threads.
  FetchTimes fetch_times() const;

 private:
  Workload& work_;
  const Job& job_;
  ThreadTeam& team_;
  std::vector<std::unique_ptr<Reader>> readers_;  // by thread
};

template <typename Arrive>
Status ListReaders::StartPending(Reader& reader, std::size_t segment, Direction direction,
                                 Arrive arrive) const {
  Pending& pending = reader.pending[segment];
  if (pending.vertices.empty()) return {};
  while (!reader.lists.has_room()) SLIM_TRY(reader.lists.VisitArrived(true, arrive));
  reader.lists.StartFetch(*work_.segments()[segment].remote[static_cast<int>(direction)],
                          pending.vertices);
  pending.arcs = 0;
  return {};
}

inline Status ListReaders::FirstFailure() const {
  for (const auto& reader : readers_) {
    if (!reader->status) return reader->status;
  }
  return {};
}

inline std::uint64_t ListReaders::waited_ns() const {
  std::uint64_t most = 0;
  for (const auto& reader : readers_) most = std::max(most, reader->lists.times().waited_ns);
  return most;
}

inline FetchTimes ListReaders::fetch_times() const {
  FetchTimes sum;
  for (const auto& reader : readers_) {
    sum.under_way_ns += reader->lists.times().under_way_ns;
    sum.waited_ns += reader->lists.times().waited_ns;
  }
  return sum;
}

}  // namespace slimgraph::dgemini
