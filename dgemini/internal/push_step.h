// One push step: active vertices change their neighbours' values. Found vertices of other nodes are
// sent to their owners.
#pragma once

#include <array>
#include <type_traits>

#include "dgemini/exchange.h"
#include "dgemini/frontier.h"
#include "dgemini/internal/deferred.h"
#include "dgemini/internal/dense_loop.h"
#include "dgemini/internal/found_vertices.h"
#include "dgemini/internal/out_boxes.h"
#include "dgemini/internal/prefetch.h"
#include "dgemini/internal/sparse_loop.h"
#include "dgemini/step.h"

namespace slimgraph::dgemini {

class PushSteps {
 public:
  PushSteps(const Workload& work, Exchange& exchange, OutBoxes& boxes, ThreadTeam& team,
            DenseLoop& dense, SparseLoop& sparse)
      : work_(work),
        exchange_(exchange),
        boxes_(boxes),
        team_(team),
        dense_(dense),
        sparse_(sparse),
        found_(work, exchange, team.threads()) {}

  const FoundVertices& found() const { return found_; }
  // Whether all lists are in this node's own memory, where visiting a list twice costs little.
  bool has_all_lists() const { return alone() && work_.remote_blocks().empty(); }

  // Collective over compute nodes. Sets `out` to the next frontier.
  template <Pushes Step>
  Status PushFrom(Frontier& in, Step& step, Frontier& out);

 private:
  bool alone() const { return exchange_.peers() == 0; }
  // Sends found vertices of other nodes to their owners, and receives vertices of the share that
  // other nodes have found.
  template <typename Step>
  Status Deliver(Step& step, Frontier& in, Frontier& out);

  const Workload& work_;
  Exchange& exchange_;
  OutBoxes& boxes_;
  ThreadTeam& team_;
  DenseLoop& dense_;
  SparseLoop& sparse_;
  FoundVertices found_;
  VertexList arrived_;  // vertices of the share that other nodes have found
};

template <Pushes Step>
Status PushSteps::PushFrom(Frontier& in, Step& step, Frontier& out) {
  // With few vertices, pushing one twice is cheaper than checking the bitmap for duplicates, unless
  // lists have to be fetched.
  constexpr std::size_t kFew = 4096;
  const bool once =
      ActivatesOnce<Step> || (PushesAgain<Step> && has_all_lists() && in.active().vertices < kFew);
  out.SetHasBitmap(!once);
  const auto visit = [&](std::uint32_t t, VertexId u, const Neighbours& list) {
    FoundVertices::OfThread& found = found_.of(t);
    found.walked += list.ids.size();
    step.Push(u, list, [&](VertexId v, auto... before) {
      if (IsDeferred(work_, alone(), step, t, v, before...)) return;
      if (once || out.Add(v)) found.vertices.push_back(v);
    });
    return false;
  };
  found_.Begin();
  if (in.has_list()) {
    // Push reads the vertex's own value, if values cross edges.
    const auto prefetch = [&](VertexId u) {
      if constexpr (!std::is_empty_v<typename Step::Value>) PrefetchValue(step, u);
    };
    SLIM_TRY(sparse_.Run(Direction::kOut, in.list(), in.active().edges, visit, prefetch,
                         [&](std::uint32_t t) { return found_.PushAgain<Step>(t, out); }));
  } else {
    SLIM_TRY(dense_.Run(
        Direction::kOut, [&](VertexId v) { return in.Has(v); }, visit,
        [](std::uint32_t, std::size_t, std::uint64_t) {}));
    team_.Run([&](std::uint32_t t) { found_.CountEdges(t); });
  }
  return Deliver(step, in, out);
}

template <typename Step>
Status PushSteps::Deliver(Step& step, Frontier& in, Frontier& out) {
  using Value = typename Step::Value;
  constexpr std::size_t kMessageBytes = std::is_empty_v<Value> ? 0 : sizeof(Value);
  VertexLists& list = out.list();
  std::array<std::uint64_t, 3> sums{};  // found vertices, their edges, and edges walked
  for (const FoundVertices::OfThread& found : found_.all()) {
    sums[1] += found.edges;
    sums[2] += found.walked;
  }
  if (alone()) {
    found_.MoveTo(list);
    out.SetActive({list.size(), sums[1]});
    in.SetEdges(sums[2]);
    return {};
  }
  arrived_.clear();
  exchange_.Begin([&](NodeId, Bytes bytes) {
    constexpr std::size_t kAhead = kPrefetchDistance * (sizeof(VertexId) + kMessageBytes);
    for (std::size_t at = 0; at < bytes.size();) {
      if (std::size_t later = at + kAhead; later < bytes.size()) {
        PrefetchValue(step, Take<VertexId>(bytes, later));
      }
      const auto v = Take<VertexId>(bytes, at);
      Value message{};
      if constexpr (kMessageBytes > 0) message = Take<Value>(bytes, at);
      if (!step.Slot(v, message) || IsDeferred(work_, /*alone=*/false, step, 0, v)) continue;
      if (ActivatesOnce<Step> || out.Add(v)) arrived_.push_back(v);
    }
  });
  for (FoundVertices::OfThread& found : found_.all()) {
    Status sent;
    found.vertices.Filter([&](VertexId v, VertexId later) {
      PrefetchValue(step, later);
      const NodeId to = work_.worker(v);
      if (to == exchange_.self()) return true;
      if (!ActivatesOnce<Step>) out.Remove(v);
      OutBoxes::Box& box = boxes_.box(to);
      if (!box.MakeRoom(sizeof(VertexId) + kMessageBytes)) {
        if (Status box_sent = boxes_.Send(to); !box_sent) sent = std::move(box_sent);
      }
      if (box.empty()) box.Open();
      box.Put(v);
      const Value message = step.Partial(v);
      if constexpr (kMessageBytes > 0) box.Put(message);
      return false;
    });
    SLIM_TRY(std::move(sent));
  }
  found_.MoveTo(list);
  SLIM_TRY(boxes_.SendAllLast());
  SLIM_TRY(exchange_.End());
  list.part(0).append(arrived_);
  sums[1] += found_.EdgesOf(arrived_);
  sums[0] = list.size();
  SLIM_TRY(exchange_.Reduce(std::span(sums)));
  out.SetActive({sums[0], sums[1]});
  in.SetEdges(sums[2]);
  return {};
}

}  // namespace slimgraph::dgemini
