// One step that memory nodes reduce, on a compute node. It sends the active vertices of the share
// to all nodes whose own lists contain them. While this node walks its own lists, memory nodes
// reduce theirs. Then it takes their results.
#pragma once

#include <atomic>
#include <vector>

#include "dgemini/internal/mirror.h"
#include "dgemini/internal/reducer.h"
#include "dgemini/internal/reduction_server.h"
#include "dgemini/internal/reductions.h"
#include "dgemini/workload.h"
#include "slimgraph/base/thread_team.h"

namespace slimgraph::dgemini {

class ReduceSteps {
 public:
  // `exchange` is work.reductions().
  ReduceSteps(const Workload& work, Exchange& exchange, ThreadTeam& team)
      : work_(work),
        exchange_(exchange),
        team_(team),
        boxes_(exchange),
        mirror_(work, exchange, boxes_),
        answered_(work.vertices()),
        started_ns_(NowNs()) {}

  // Collective over compute nodes. `wants(v)` is whether v wants a result. After walk_own() has
  // walked the lists in this node's own memory, calls finish(thread, v, result) for the other
  // vertices of the share, on all threads.
  template <Reduces Step, typename Wants, typename WalkOwn, typename Finish>
  Status Run(Frontier& in, Step& step, Direction direction, Wants wants, WalkOwn walk_own,
             Finish finish);

  // Collective over compute nodes. Memory nodes join the vertices of their lists, while walk_own()
  // does so with this node's own lists. Then calls join(v, root) for all vertices that are joined.
  template <typename WalkOwn, typename Join>
  Status JoinComponents(WalkOwn walk_own, Join join);

  // Whether a memory node that works for this one has used more than its share of processor time.
  bool over_budget() const {
    const double percent = work_.cache().memory_cpu_percent;
    return percent > 0 && static_cast<double>(busy_ns_) * 100 >
                              percent * static_cast<double>(NowNs() - started_ns_);
  }
  std::uint64_t waited_ns() const { return exchange_.waited_ns(); }

 private:
  // Calls visit(thread, message) for all results of memory nodes, on all threads.
  template <typename WalkOwn, typename Visit>
  Status TakeResults(WalkOwn walk_own, Visit visit);
  template <typename Step, typename Wants>
  Status SendActive(Frontier& in, Step& step, Direction direction, Wants wants);
  template <typename R, typename Wants, typename Finish>
  void FinishRest(Wants wants, Finish finish);

  const Workload& work_;
  Exchange& exchange_;
  ThreadTeam& team_;
  OutBoxes boxes_;
  Mirror mirror_;
  Frontier answered_;  // the vertices with a result
  std::vector<std::vector<std::byte>> arrived_;
  std::uint64_t started_ns_;
  std::uint64_t busy_ns_ = 0;  // of the memory node that has worked longest
};

template <Reduces Step, typename Wants, typename WalkOwn, typename Finish>
Status ReduceSteps::Run(Frontier& in, Step& step, Direction direction, Wants wants,
                        WalkOwn walk_own, Finish finish) {
  using R = typename Step::Reduction;
  SLIM_TRY(SendActive(in, step, direction, wants));
  SLIM_TRY(TakeResults(walk_own, [&](std::uint32_t t, Bytes message) {
    ReducedBlock<R>::Visit(message, sizeof(ReductionHead),
                           [&](VertexId v, const typename R::Result& result) {
                             if (R::kFinishesAll) answered_.Add(v);
                             finish(t, v, result);
                           });
  }));
  if constexpr (R::kFinishesAll) FinishRest<R>(wants, finish);
  return {};
}

template <typename WalkOwn, typename Join>
Status ReduceSteps::JoinComponents(WalkOwn walk_own, Join join) {
  exchange_.BeginBetween({0, work_.compute()}, {0, exchange_.nodes()}, [](NodeId, Bytes) {});
  for (NodeId node = work_.compute(); node < exchange_.nodes(); ++node) {
    OutBoxes::Box& box = boxes_.box(node);
    box.MakeRoom(sizeof(std::uint32_t));
    box.Open();
    box.Put(static_cast<std::uint32_t>(kJoinComponents));
    SLIM_TRY(boxes_.SendLast(node));
  }
  SLIM_TRY(exchange_.End());
  return TakeResults(walk_own, [&](std::uint32_t, Bytes message) {
    ReducedBlock<JoinedComponents>::Visit(message, sizeof(ReductionHead), join);
  });
}

template <typename WalkOwn, typename Visit>
Status ReduceSteps::TakeResults(WalkOwn walk_own, Visit visit) {
  exchange_.BeginBetween(
      {work_.compute(), exchange_.nodes()}, {0, work_.compute()},
      [&](NodeId, Bytes message) { arrived_.emplace_back(message.begin(), message.end()); });
  SLIM_TRY(walk_own());
  SLIM_TRY(exchange_.End());
  std::atomic<std::size_t> next{0};
  team_.Run([&](std::uint32_t t) {
    for (std::size_t i = next++; i < arrived_.size(); i = next++) visit(t, arrived_[i]);
  });
  for (const auto& message : arrived_) {
    std::size_t at = 0;
    busy_ns_ = std::max(busy_ns_, Take<ReductionHead>(message, at).busy_ns);
  }
  arrived_.clear();
  return {};
}

template <typename Step, typename Wants>
Status ReduceSteps::SendActive(Frontier& in, Step& step, Direction direction, Wants wants) {
  using R = typename Step::Reduction;
  const std::uint32_t bits = Registered<R>::number * kFirstReductionBit |
                             (direction == Direction::kIn ? kOverInLists : 0U);
  in.SetHasRemoteBits();
  exchange_.BeginBetween({0, work_.compute()}, {0, exchange_.nodes()},
                         [&](NodeId, Bytes message) { Mirror::TakeMessage(message, in, step); });
  std::vector<std::uint64_t> wanted;
  for (NodeId i = 0; i < exchange_.peers(); ++i) {
    const NodeId peer = exchange_.peer(i);
    const bool computes = peer < work_.compute();
    for (const Workload::Segment& segment : work_.segments()) {
      if (R::kOfAll || segment.home != peer || segment.count == 0) continue;
      wanted.assign(segment.words_end() - segment.first_word(), 0);
      for (VertexId v = segment.first; v < segment.end(); ++v) {
        if (wants(v)) wanted[v / 64 - segment.first_word()] |= std::uint64_t{1} << (v % 64);
      }
      SLIM_TRY(mirror_.SendBits(peer, bits | kWantedVertices, segment, [&](std::size_t word) {
        return wanted[word - segment.first_word()];
      }));
    }
    SLIM_TRY(boxes_.Send(peer));
    SLIM_TRY(
        mirror_.SendTo(peer, computes ? work_.OwnListsOf(peer) : peer, bits, in, step, direction));
  }
  return exchange_.End();
}

// For vertices that want a result and whose lists have none.
template <typename R, typename Wants, typename Finish>
void ReduceSteps::FinishRest(Wants wants, Finish finish) {
  const auto& blocks = work_.remote_blocks();
  std::atomic<std::size_t> next{0};
  team_.Run([&](std::uint32_t t) {
    for (std::size_t i = next++; i < blocks.size(); i = next++) {
      for (VertexId v = blocks[i].first; v < blocks[i].end; ++v) {
        if (!answered_.Has(v) && wants(v)) finish(t, v, typename R::Result{});
      }
    }
  });
  answered_.SetHasRemoteBits();
  answered_.Clear();
}

}  // namespace slimgraph::dgemini
