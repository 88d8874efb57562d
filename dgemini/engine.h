// Runs vertex programs on the compute nodes of a cluster. Open this header first, then step.h.
//
// A program's step says how a value crosses an edge, by pushing and by pulling. The engine picks
// one of them for each step, by the edges of the frontier. Values are in arrays over all vertices.
// A node owns the values of its share of the vertices. Its values of other vertices are copies:
// each is the last value that the node was sent.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "dgemini/exchange.h"
#include "dgemini/frontier.h"
#include "dgemini/internal/agree.h"
#include "dgemini/internal/dense_loop.h"
#include "dgemini/internal/mirror.h"
#include "dgemini/internal/out_boxes.h"
#include "dgemini/internal/prefetch.h"
#include "dgemini/internal/pull_step.h"
#include "dgemini/internal/push_step.h"
#include "dgemini/internal/reduce_step.h"
#include "dgemini/internal/share_loops.h"
#include "dgemini/internal/sparse_loop.h"
#include "dgemini/internal/step_bytes.h"
#include "dgemini/internal/step_counts.h"
#include "dgemini/step.h"
#include "slimgraph/cluster/handover.h"

namespace slimgraph::dgemini {

// Whether steps always push, always pull, or choose by the frontier.
enum class Mode { kPush, kPull, kAuto };

class Engine {
 public:
  // Create it on compute nodes only. `exchange` must exist on all nodes.
  Engine(Cluster& cluster, Workload& work, Exchange& exchange, Mode mode)
      : job_(cluster.job()),
        work_(work),
        exchange_(exchange),
        mode_(mode),
        endpoint_(cluster.fabric().endpoint(0)),
        team_(cluster.threads()),
        readers_(work, cluster, team_),
        dense_(readers_),
        sparse_(readers_),
        loops_(work, team_),
        boxes_(exchange),
        mirror_(work, exchange, boxes_),
        push_(work, exchange, boxes_, team_, dense_, sparse_) {
    if (work.reductions() != nullptr) reduce_.emplace(work, *work.reductions(), team_);
  }

  VertexId vertices() const { return work_.vertices(); }
  EdgeOffset arcs() const { return work_.arcs(); }
  bool directed() const { return work_.in() == Direction::kIn; }
  Job& job() { return job_; }
  Mode mode() const { return mode_; }
  // With it, other compute nodes may continue a program (internal/leaving.h); null: none do.
  Handover* handover() const { return handover_; }
  void SetHandover(Handover* handover) { handover_ = handover; }
  // When the edge cache takes the lists of a program (internal/caching_scope.h). After
  // CacheAtOnce() it always takes them at once: call it if other programs will need them later.
  void SetAdmission(Admission admission) {
    work_.SetAdmission(caches_at_once_ ? Admission::kAtOnce : admission);
  }
  void CacheAtOnce() { caches_at_once_ = true; }
  std::uint32_t threads() const { return team_.threads(); }
  // The length of the longest out list of the share.
  EdgeOffset longest() const { return work_.longest(); }
  bool first() const { return exchange_.self() == 0; }
  NodeId compute() const { return exchange_.nodes(); }
  // Whether this is the only compute node.
  bool alone() const { return exchange_.peers() == 0; }
  bool has_all_lists() const { return push_.has_all_lists(); }
  bool may_reduce() const { return reduce_.has_value(); }
  bool mine(VertexId v) const { return work_.mine(v); }
  // Of the share's lists: those in this node's memory, and those in memory nodes.
  bool has_own_lists() const { return !work_.own_blocks().empty(); }
  bool has_remote_lists() const { return !work_.remote_blocks().empty(); }
  bool has_own_list(VertexId v) const { return work_.segment_of(v).is_own(); }

  // ---- values

  // An array with the value `initial` for each vertex of the graph.
  template <typename T>
  VertexArray<T> Values(T initial) {
    VertexArray<T> values(vertices());
    ForAll([&](VertexId v) { values[v] = initial; });
    return values;
  }
  // An array of zeros, of which programs use only the share's vertices, and in order.
  template <typename T>
  VertexArray<T> ShareValues() {
    using Pages = typename VertexArray<T>::Pages;
    return VertexArray<T>(vertices(), alone() ? Pages::kHuge : Pages::kSmall);
  }
  // Replaces the values of the share by those of `next`. Afterwards `next` is undefined.
  template <typename T, typename Next>
  void Replace(VertexArray<T>& values, VertexArray<Next>& next) {
    // With other compute nodes, a swap would also exchange the copies of their values.
    if constexpr (std::is_same_v<T, Next>) {
      if (alone()) return std::swap(values, next);
    }
    ForEach([&](VertexId v) { values[v] = static_cast<T>(next[v]); });
  }
  // Gathers the values of all nodes on node 0. Collective over compute nodes.
  template <typename T>
  Status Gather(VertexArray<T>& values);
  // The length of each vertex's out list, for vertices of the share.
  Result<VertexArray<std::uint32_t>> Degrees();

  // Calls body(v), or body(thread, v), for each vertex of the share, on all threads.
  template <typename Body>
  void ForEach(Body body) {
    ForEachByThread([&](std::uint32_t, VertexId v) { body(v); });
  }
  template <typename Body>
  void ForEachByThread(Body body) {
    loops_.ForEachBlock([&](std::uint32_t thread, std::size_t, const Workload::Block& block) {
      for (VertexId v = block.first; v < block.end; ++v) body(thread, v);
    });
  }
  // Calls body(v) for each vertex of the graph, on all threads.
  template <typename Body>
  void ForAll(Body body) {
    loops_.ForAll(body);
  }
  // Calls body(span) for pieces of the vertices of all nodes that the bitmap has.
  template <typename Body>
  void ForAllIn(const Frontier& frontier, Body body) {
    loops_.ForAllIn(frontier, body);
  }
  // Adds to the bitmap the vertices of this node's share for which chosen(v) is true.
  template <typename Chosen>
  void AddChosen(Frontier& frontier, Chosen chosen) {
    loops_.AddChosen(frontier, chosen);
  }
  // Calls visit(u, out) for the out lists of the share's vertices with wants(u), on all threads.
  template <typename Wants, typename Visit>
  Status ForEachList(Wants wants, Visit visit) {
    return dense_.Run(
        Direction::kOut, wants,
        [&](std::uint32_t, VertexId u, const Neighbours& list) {
          visit(u, list);
          return false;
        },
        [](std::uint32_t, std::size_t, std::uint64_t) {});
  }
  // The sum of of(v) over all vertices of the graph. The result does not depend on the number of
  // threads. Collective over compute nodes.
  template <typename Of>
  Result<double> Sum(Of of);
  // How many different values there are, each below vertices(). Collective over compute nodes.
  Result<std::uint64_t> CountDifferent(const VertexArray<VertexId>& values);
  template <typename T, std::size_t N, typename Combine>
  Status Reduce(std::span<T, N> values, Combine combine) {
    return exchange_.Reduce(values, combine);
  }

  // ---- frontiers

  // Sets `frontier` to these vertices, or to all vertices. Every node must pass the same vertices.
  Status Activate(Frontier& frontier, std::span<const VertexId> vertices);
  void ActivateAll(Frontier& frontier);
  // Sets `frontier` to the vertices of the share for which chosen(v) is true. All threads call it.
  // Collective over compute nodes.
  template <typename Chosen>
  Status Choose(Frontier& frontier, Chosen chosen) {
    frontier.Clear();
    frontier.SetHasList(false);
    loops_.AddChosen(frontier, chosen);
    List(frontier);
    return Count(frontier);
  }
  // Sets `frontier` to the vertices of the share that deferred.TakeCurrent(thread, list) puts into
  // each thread's list, without those that deferred.Wants(v) rejects, and without duplicates. A
  // node that has all lists keeps duplicates: visiting them costs less.
  template <typename Deferred>
  Status Refill(Frontier& frontier, Deferred& deferred);
  // Sets `frontier` to these vertices of the share, each of which is listed once.
  Status SetActive(Frontier& frontier, VertexLists listed);
  // Fills the frontier's list from its bitmap.
  void List(Frontier& frontier);
  // Keeps the vertices of the frontier for which keep(v) returns true. All threads call it, once
  // for each vertex of the share that is in the frontier. Collective over compute nodes.
  template <typename Keep>
  Status Filter(Frontier& frontier, Keep keep);
  // Calls body(thread, part) for each part of the lists, on all threads unless they are short.
  template <typename Body>
  void ForEachPart(VertexLists& lists, Body body) {
    loops_.ForEachPart(lists, body);
  }

  // ---- steps, collective over compute nodes

  // Whether the next step pulls, in mode auto by the cost of both ways.
  template <VertexStep Step>
  bool PicksPull(const Frontier& in, const Step& step) const;
  // Makes one step from `in`. Clears `out`, and sets it to the next frontier.
  template <VertexStep Step>
  Status Advance(Frontier& in, Step& step, Frontier& out);
  // The same for a step that only pushes, and for one that only pulls.
  template <Pushes Step>
  Status AdvanceByPush(Frontier& in, Step& step, Frontier& out);
  template <Pulls Step>
  Status AdvanceByPull(Frontier& in, Step& step, Frontier& out);
  // Sends the values of `from` to the nodes that need them, which call Mirror. Then calls Pull for
  // the out lists of the vertices `at`, which are of the share. Fills the bitmap of `from` if it
  // must be sent, or if `from` is so large that a bitmap is faster.
  template <CollectStep Step>
  Status Collect(Frontier& from, const VertexLists& at, Step& step);
  // Adds the vertices of other nodes' frontiers that are in this node's out lists to the bitmap.
  Status SendFrontier(Frontier& frontier) { return mirror_.SendAndReceive(frontier); }
  // Repeats until no value changes: sends each vertex's changed Signal to all nodes whose lists
  // contain the vertex, where Slot merges it.
  template <AgreeStep Step>
  Status Agree(Step& step) {
    return AgreeOn(work_, exchange_, boxes_, step);
  }

  // Calls walk(u, out) for the out lists of the share's vertices, on all threads. Memory nodes may
  // instead join the vertices of their lists: then it calls join(v, root) for these. Collective
  // over compute nodes.
  template <typename Walk, typename Join>
  Status JoinComponents(Walk walk, Join join);

  // ---- figures

  std::uint64_t waited_ns() const { return readers_.waited_ns() + exchange_waited_ns(); }
  std::uint64_t exchange_waited_ns() const {
    return exchange_.waited_ns() + (reduce_ ? reduce_->waited_ns() : 0);
  }
  // The sum over all threads.
  FetchTimes fetch_times() const { return readers_.fetch_times(); }
  const StepCounts& counts() const { return counts_; }
  void SetCounts(const StepCounts& counts) { counts_ = counts; }

 private:
  // Whether memory nodes reduce the next pull step, and the next Collect. Collective.
  template <Reduces Step>
  Result<bool> ReducesPull(const Frontier& in, const Step& step);
  template <Reduces Step>
  Result<bool> ReducesCollect(Frontier& from, const VertexLists& at);
  // Sums `bytes` over all compute nodes. `always`: unless memory nodes have used up their time.
  Result<bool> PicksReduction(StepBytes bytes, bool always);
  // The same for JoinComponents. Collective.
  Result<bool> ReducesJoin();
  template <Reduces Step>
  Status CollectByReduction(Frontier& from, const VertexLists& at, Step& step);
  // Sets the frontier's size over all nodes, from the lists of the nodes. Collective.
  Status Count(Frontier& frontier);
  // Fills the frontier's bitmap from its list.
  void Mark(Frontier& frontier);

  Job& job_;
  Workload& work_;
  Exchange& exchange_;
  Mode mode_;
  Endpoint& endpoint_;
  ThreadTeam team_;
  ListReaders readers_;
  DenseLoop dense_;
  SparseLoop sparse_;
  ShareLoops loops_;
  OutBoxes boxes_;
  Mirror mirror_;
  PushSteps push_;
  Handover* handover_ = nullptr;
  bool caches_at_once_ = false;
  StepCounts counts_;
  std::optional<ReduceSteps> reduce_;  // if memory nodes reduce
  std::uint64_t reduced_bytes_ = 0;    // of all reduced steps so far, estimated
};

template <VertexStep Step>
bool Engine::PicksPull(const Frontier& in, const Step& step) const {
  if (mode_ != Mode::kAuto) return mode_ == Mode::kPull;
  static_assert(Step::kPullAbove <= FoundVertices::kMaxPullAbove);
  const std::uint64_t edges = in.active().edges;
  std::uint64_t to_pull = work_.arcs();
  // A pull examines all vertices, so they are part of its cost.
  if constexpr (CountsArcsLeft<Step>) to_pull = step.left - std::min(step.left, edges) + vertices();
  return (edges + in.active().vertices) * Step::kPullAbove > to_pull;
}

template <Pulls Step>
Status Engine::AdvanceByPull(Frontier& in, Step& step, Frontier& out) {
  out.Clear();
  ++counts_.steps;
  ++counts_.pulls;
  Mark(in);
  if constexpr (Reduces<Step>) {
    SLIM_ASSIGN(const bool reduces, ReducesPull(in, step));
    if (reduces) {
      ++counts_.reduced;
      return PullFrom(work_, exchange_, dense_, threads(), in, step, out, &*reduce_);
    }
  }
  if (!alone()) SLIM_TRY(mirror_.SendAndReceive(in, step, work_.in()));
  return PullFrom(work_, exchange_, dense_, threads(), in, step, out, nullptr);
}

template <Pushes Step>
Status Engine::AdvanceByPush(Frontier& in, Step& step, Frontier& out) {
  out.Clear();
  ++counts_.steps;
  if (!in.has_list() && in.active().vertices < vertices() / 16) List(in);
  return push_.PushFrom(in, step, out);
}

template <VertexStep Step>
Status Engine::Advance(Frontier& in, Step& step, Frontier& out) {
  if (PicksPull(in, step)) {
    SLIM_TRY(AdvanceByPull(in, step, out));
  } else {
    SLIM_TRY(AdvanceByPush(in, step, out));
  }
  if constexpr (CountsArcsLeft<Step>) step.left -= std::min(step.left, in.active().edges);
  return {};
}

template <typename Keep>
Status Engine::Filter(Frontier& frontier, Keep keep) {
  List(frontier);
  const bool marked = frontier.has_bitmap();
  ForEachPart(frontier.list(), [&](std::uint32_t, VertexList& part) {
    part.Filter([&](VertexId v, VertexId) {
      if (keep(v)) return true;
      if (marked) frontier.Remove(v);
      return false;
    });
  });
  return Count(frontier);
}

template <CollectStep Step>
Status Engine::Collect(Frontier& from, const VertexLists& at, Step& step) {
  constexpr std::size_t kMany = 64;
  ++counts_.collects;
  if constexpr (Reduces<Step>) {
    SLIM_ASSIGN(const bool reduces, ReducesCollect<Step>(from, at));
    if (reduces) return CollectByReduction(from, at, step);
  }
  if (!alone() || from.list().size() > vertices() / kMany) Mark(from);
  if (!alone()) SLIM_TRY(mirror_.SendAndReceive(from, step, Direction::kOut));
  return sparse_.Run(
      Direction::kOut, at, /*arcs=*/0,
      [&](std::uint32_t t, VertexId v, const Neighbours& list) { CallPull(step, t, v, list); },
      [](VertexId) {}, [](std::uint32_t) { return std::span<const VertexId>(); });
}

template <typename Deferred>
Status Engine::Refill(Frontier& frontier, Deferred& deferred) {
  frontier.Clear();
  VertexLists& list = frontier.list();
  for (std::uint32_t t = 0; t < threads(); ++t) deferred.TakeCurrent(t, list.part(t));
  const bool marks = !has_all_lists();
  loops_.ForEachPart(list, [&](std::uint32_t, VertexList& part) {
    part.Filter([&](VertexId v, VertexId later) {
      PrefetchValue(deferred, later);
      return deferred.Wants(v) && (!marks || frontier.Add(v));
    });
  });
  frontier.SetHasBitmap(marks);
  return Count(frontier);
}

// Sums by block, so that the result does not depend on which thread takes which block.
template <typename Of>
Result<double> Engine::Sum(Of of) {
  std::vector<double> sums(loops_.blocks());
  loops_.ForEachBlock([&](std::uint32_t, std::size_t i, const Workload::Block& block) {
    double sum = 0;
    for (VertexId v = block.first; v < block.end; ++v) sum += of(v);
    sums[i] = sum;
  });
  double sum = 0;
  for (const double one : sums) sum += one;
  SLIM_TRY(exchange_.Reduce(std::span(&sum, 1)));
  return sum;
}

template <typename T>
Status Engine::Gather(VertexArray<T>& values) {
  if (alone()) return {};
  exchange_.Begin([&](NodeId, Bytes bytes) {
    std::size_t at = 0;
    const auto first = Take<VertexId>(bytes, at);
    std::memcpy(values.data() + first, bytes.data() + at, bytes.size() - at);
  });
  constexpr std::size_t kHead = sizeof(Exchange::Header) + sizeof(VertexId);
  constexpr std::size_t kMany = (Exchange::kMaxBytes - kHead) / sizeof(T);
  OutBoxes::Box& box = boxes_.box(0);
  for (const Workload::Segment& segment : work_.segments()) {
    if (first()) break;
    for (VertexId v = segment.first; v < segment.end();) {
      const auto count = static_cast<VertexId>(std::min<std::size_t>(kMany, segment.end() - v));
      box.MakeRoom(kHead + count * sizeof(T));
      box.Open();
      box.Put(v);
      box.PutBytes(std::as_bytes(std::span(values.data() + v, count)));
      SLIM_TRY(boxes_.Send(0));
      v += count;
    }
  }
  return exchange_.End();
}

}  // namespace slimgraph::dgemini

#include "dgemini/internal/engine_reduction.h"  // the rest of the templates
