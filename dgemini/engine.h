// Runs vertex programs on the compute nodes of a cluster. Open this header first.
//
// A program's step tells what crosses an edge, both ways of doing it; the engine picks one for each
// step by the edges of the frontier. Values lie in arrays over all vertices. A node owns those of
// its share; of the others it has copies, as good as what it has heard.
//
//   push: the lists of active vertices are walked, and the values of their neighbours are changed
//         wherever they are; then what was changed of others' vertices is sent to their owners.
//   pull: the values of active vertices are sent to the nodes that have neighbours of theirs; then
//         every vertex that wants to walks its own list.
//
//   struct Step {
//     using Value = …;                       what is sent of a vertex; Nothing: that it is active
//     using Short = …;                       optional: a shorter form, which is sent for Mirror
//                                            where no value of the step's differs in it
//     static constexpr std::uint64_t kPullAbove;    pull when the frontier has more than one in
//                                                   kPullAbove of all edges
//     void Push(VertexId u, const Neighbours& out, auto activate);   by any thread
//     Value Partial(VertexId v);             of another's vertex that was activated here …
//     bool Slot(VertexId v, Value);          … at its owner; whether it becomes active
//     const void* At(VertexId v);            optional: where these two will look, which is then
//                                            asked for before
//     bool Wants(VertexId v);                or std::true_type, where all do
//     bool Pull(VertexId v, const Neighbours& in);   whether v becomes active
//     Value Signal(VertexId u);              of an active vertex …
//     void Mirror(VertexId u, Value);        … where it is needed
//     std::uint64_t left;   optional: arcs of vertices that may still want, all at first; the
//                           engine takes off those of the frontiers
//     static constexpr bool kActivatesOnce = true;   optional: Push and Slot activate no vertex
//                                                    twice
//     static constexpr bool kRunsOn = true;  optional: a vertex that Push activates may be pushed
//                                            in the same step, and more than once: values come to
//                                            the same in any order. Push changes them by Lower,
//                                            and looks at that of `u` by LoadInOrder
//     bool Defers(std::uint32_t thread, VertexId v, auto… before);  optional: whether a vertex of
//                                            the share that would become active does not; Refill
//                                            has it later. `before` is what Push has told
//                                            `activate` besides, if anything
//   };
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "dgemini/exchange.h"
#include "dgemini/frontier.h"
#include "dgemini/list_loop.h"
#include "dgemini/look_ahead.h"
#include "dgemini/mode.h"
#include "dgemini/vertex_lists.h"

namespace slimgraph {

struct Nothing {};

class Engine {
 public:
  // On compute nodes; `exchange` was made on all nodes.
  Engine(Cluster& cluster, Workload& work, Exchange& exchange, Mode mode)
      : work_(work),
        exchange_(exchange),
        mode_(mode),
        endpoint_(cluster.fabric().endpoint(0)),
        team_(cluster.threads()),
        loop_(work, cluster.fabric(), team_),
        found_(team_.threads()),
        boxes_(exchange.nodes(), std::vector<std::byte>(Exchange::kMaxBytes)),
        filled_(exchange.nodes()) {}

  VertexId vertices() const { return work_.vertices(); }
  EdgeOffset arcs() const { return work_.arcs(); }
  bool directed() const { return work_.in() == Direction::kIn; }
  Mode mode() const { return mode_; }
  std::uint32_t threads() const { return team_.threads(); }
  bool first() const { return exchange_.self() == 0; }
  // Whether this node has all lists to itself.
  bool alone() const { return exchange_.peers() == 0; }
  bool mine(VertexId v) const { return work_.mine(v); }

  // A value for each vertex.
  template <typename T>
  VertexArray<T> Values(T initial);

  // Zero, for vertices of the share alone, which are gone through in order.
  template <typename T>
  VertexArray<T> ShareValues() {
    using Pages = typename VertexArray<T>::Pages;
    return VertexArray<T>(vertices(), alone() ? Pages::kHuge : Pages::kSmall);
  }
  // Those of the share become those of `next`, which may hold anything afterwards.
  template <typename T>
  void Replace(VertexArray<T>& values, VertexArray<T>& next);

  // One step from `in`; `out` becomes the frontier that follows, and is cleared first.
  template <typename Step>
  Status Advance(Frontier& in, Step& step, Frontier& out);

  // Walks the out lists of these vertices of the share with Pull, when Mirror has had the values of
  // `from` where they are needed. The bitmap of `from`, unless it is marked already, is filled
  // where it is sent, or where there are enough of them for that to pay.
  template <typename Step>
  Status Collect(Frontier& from, const VertexLists& at, Step& step);

  // visit(u, out) for the lists of the share with wants(u), by all threads.
  template <typename Wants, typename Visit>
  Status ForEachList(Wants wants, Visit visit);

  // Until nothing changes any more: where a vertex's value, Signal(v), has become another, Slot(v,
  // value) has it on all nodes that know the vertex.
  template <typename Step>
  Status Agree(Step& step);

  // Makes `frontier` hold these vertices, or all; every node says the same.
  Status Activate(Frontier& frontier, std::span<const VertexId> vertices);
  void ActivateAll(Frontier& frontier);
  // Makes `frontier` hold the vertices of the share that kept.Take(thread, list) puts into each
  // thread's list, where kept.Wants(v). Others may be among them where that costs no messages.
  template <typename Kept>
  Status Refill(Frontier& frontier, Kept& kept);
  // The share's vertices of a frontier, as a list.
  void List(Frontier& frontier);

  // body(v) for each vertex of the share, by all threads.
  template <typename Body>
  void ForEach(Body body);
  // body(v) for each vertex of the graph.
  template <typename Body>
  void ForAll(Body body);
  // The sum of of(v) over all vertices of the graph.
  template <typename Of>
  Result<double> Sum(Of of);
  template <typename T, std::size_t N, typename Combine>
  Status Reduce(std::span<T, N> values, Combine combine) {
    return exchange_.Reduce(values, combine);
  }

  // The length of each vertex's out list, for vertices of the share.
  Result<VertexArray<std::uint32_t>> Degrees();

  // Node 0 gets everyone's values; collective over the compute nodes.
  template <typename T>
  Status Gather(VertexArray<T>& values);

  std::uint64_t waited_ns() const { return loop_.waited_ns() + exchange_.waited_ns(); }
  std::uint64_t exchange_waited_ns() const { return exchange_.waited_ns(); }
  // Of all threads together.
  FetchTimes fetch_times() const { return loop_.fetch_times(); }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t pulls() const { return pulls_; }

 private:
  // body(thread, number, block) for each block of the share, by all threads.
  template <typename Body>
  void ForEachBlock(Body body);
  template <typename Step>
  bool PicksPull(const Frontier& in, const Step& step) const;
  template <typename Step, typename... Before>
  bool Defers(Step& step, std::uint32_t thread, VertexId v, Before... before) const;
  template <typename Step>
  static constexpr bool kActivatesOnce = requires {
    requires Step::kActivatesOnce;
  };
  template <typename Step>
  static constexpr bool kRunsOn = requires {
    requires Step::kRunsOn;
  };
  // More to be pushed by this thread in the same step: few vertices that it has found. When there
  // is no more, what stays found is counted.
  template <typename Step>
  std::span<const VertexId> RunOn(std::uint32_t thread, Frontier& out);
  void CountFound(std::uint32_t thread);
  // The edges of a thread's vertices of the share; or as many as they have at most, where all
  // threads have so few that no step will be a pull for them.
  std::uint64_t EdgesOf(std::span<const VertexId> listed) const;
  bool AreFew(std::size_t listed) const;
  static constexpr std::uint64_t kMostPullAbove = 20;
  // What the threads have found becomes the list.
  void TakeFound(VertexLists& list);
  // After vertices of the share were put into its list: how many there are in all.
  Status Count(Frontier& frontier);
  // Sets the bits of the vertices of the list.
  void Mark(Frontier& frontier);
  // body(span) for the vertices of the list, by all threads.
  template <typename Body>
  void ForEachListed(const VertexLists& list, Body body);
  template <typename Step>
  Status PushStep(Frontier& in, Step& step, Frontier& out);
  template <typename Step>
  Status PullStep(Frontier& in, Step& step, Frontier& out);
  // Sends active vertices of the share to the nodes that need them.
  template <typename Step>
  Status Broadcast(Frontier& in, Step& step, Direction direction);
  // What of the frontier `peer` needs, as words of the bitmap or vertex by vertex, with values or
  // short values. Sent: how a value crosses.
  template <typename Step>
  static constexpr bool kShortens = requires {
    requires sizeof(typename Step::Short) < sizeof(typename Step::Value);
  };
  enum Form : std::uint32_t { kAsWords = 0, kAsVertices = 1, kShort = 2 };
  template <typename Step>
  Status SendMirrored(NodeId peer, const Frontier& in, Step& step, Direction direction);
  template <typename Sent, typename BitsOf, typename Step>
  Status SendForm(NodeId peer, std::uint32_t form, BitsOf bits_of, Step& step);
  template <typename Sent, typename BitsOf, typename Step>
  Status SendWords(NodeId peer, std::uint32_t form, const Workload::Segment& segment,
                   BitsOf bits_of, Step& step);
  template <typename Sent, typename BitsOf, typename Step>
  Status SendVertices(NodeId peer, std::uint32_t form, const Workload::Segment& segment,
                      BitsOf bits_of, Step& step);
  template <typename Sent, typename Step>
  void TakeForm(std::uint32_t form, Bytes bytes, std::size_t at, Frontier& in, Step& step);
  template <typename Sent, typename Step>
  void TakeWords(Bytes bytes, std::size_t at, Frontier& in, Step& step);
  template <typename Sent, typename Step>
  void TakeVertices(Bytes bytes, std::size_t at, Frontier& in, Step& step);
  void Open(NodeId to, std::uint32_t form) {
    filled_[to] = sizeof(Exchange::Header);
    Put(boxes_[to], filled_[to], form);
  }
  // Sends vertices of others that were found here, and takes those of ours that others have found.
  template <typename Step>
  Status Settle(Step& step, Frontier& in, Frontier& out);

  template <typename T>
  static void Put(std::vector<std::byte>& box, std::size_t& at, const T& value) {
    std::memcpy(box.data() + at, &value, sizeof value);
    at += sizeof value;
  }
  template <typename T>
  static T Take(Bytes bytes, std::size_t& at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  Status SendBox(NodeId to);

  Workload& work_;
  Exchange& exchange_;
  Mode mode_;
  Endpoint& endpoint_;
  ThreadTeam team_;
  ListLoop loop_;
  // What a thread's pushes have activated.
  struct alignas(kCacheLineBytes) Found {
    VertexList vertices;
    VertexList again;          // pushed in the same step
    std::uint64_t edges = 0;   // of those of the share
    std::uint64_t walked = 0;  // edges that they were found along
  };
  std::vector<Found> found_;                   // by thread
  std::vector<std::vector<std::byte>> boxes_;  // by node: what will be sent
  std::vector<std::size_t> filled_;            // by node: bytes of its box
  VertexList arrived_;
  std::uint64_t steps_ = 0;
  std::uint64_t pulls_ = 0;
};

}  // namespace slimgraph

#include "dgemini/engine_agree.h"
#include "dgemini/engine_pull.h"
#include "dgemini/engine_push.h"
#include "dgemini/engine_values.h"
