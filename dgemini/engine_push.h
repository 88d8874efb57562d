// The engine's choice between push and pull, and the push step. Included by engine.h.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

template <typename Step>
bool Engine::PicksPull(const Frontier& in, const Step& step) const {
  if (mode_ != Mode::kAuto) return mode_ == Mode::kPull;
  static_assert(Step::kPullAbove <= kMostPullAbove);
  const std::uint64_t edges = in.active().edges;
  std::uint64_t to_pull = work_.arcs();
  // All vertices are looked at.
  if constexpr (requires { step.left; })
    to_pull = step.left - std::min(step.left, edges) + vertices();
  return (edges + in.active().vertices) * Step::kPullAbove > to_pull;
}

template <typename Step, typename... Before>
bool Engine::Defers(Step& step, std::uint32_t thread, VertexId v, Before... before) const {
  if constexpr (requires { step.Defers(thread, v, before...); }) {
    return (alone() || mine(v)) && step.Defers(thread, v, before...);
  }
  return false;
}

template <typename Step>
Status Engine::Advance(Frontier& in, Step& step, Frontier& out) {
  out.Clear();
  ++steps_;
  const bool pull = PicksPull(in, step);
  pulls_ += pull ? 1 : 0;
  SLIM_TRY(pull ? PullStep(in, step, out) : PushStep(in, step, out));
  if constexpr (requires { step.left; }) step.left -= std::min(step.left, in.active().edges);
  return {};
}

template <typename Step>
std::span<const VertexId> Engine::RunOn(std::uint32_t thread, Frontier& out) {
  Found& found = found_[thread];
  found.again.clear();
  if constexpr (kRunsOn<Step>) {
    constexpr std::size_t kFew = 1024;  // more are better shared out
    if (!out.marked() && found.vertices.size() < kFew) {
      found.again.swap(found.vertices);
    } else if (found.vertices.size() < kFew) {
      found.vertices.Filter([&](VertexId v, VertexId) {
        if (!alone() && !mine(v)) return true;
        found.again.push_back(v);
        out.Remove(v);
        return false;
      });
    }
  }
  if (found.again.empty()) CountFound(thread);
  return found.again;
}

template <typename Step>
Status Engine::PushStep(Frontier& in, Step& step, Frontier& out) {
  // Few vertices are sooner pushed twice than looked up.
  constexpr std::size_t kFew = 4096;
  const bool once =
      kActivatesOnce<Step> || (kRunsOn<Step> && alone() && in.active().vertices < kFew);
  out.SetMarked(!once);
  const auto visit = [&](std::uint32_t t, VertexId u, const Neighbours& list) {
    Found& found = found_[t];
    found.walked += list.ids.size();
    step.Push(u, list, [&](VertexId v, auto... before) {
      if (Defers(step, t, v, before...)) return;
      if (once || out.Add(v)) found.vertices.push_back(v);
    });
    return false;
  };
  for (Found& found : found_) found.edges = found.walked = 0;
  if (!in.listed() && in.active().vertices < vertices() / 16) List(in);
  if (in.listed()) {
    SLIM_TRY(loop_.Sparse(Direction::kOut, in.list(), visit,
                          [&](std::uint32_t t) { return RunOn<Step>(t, out); }));
  } else {
    SLIM_TRY(loop_.Dense(
        Direction::kOut, [&](VertexId v) { return in.Has(v); }, visit,
        [](std::uint32_t, std::size_t, std::uint64_t) {}));
    team_.Run([&](std::uint32_t t) { CountFound(t); });
  }
  return Settle(step, in, out);
}

template <typename Step>
Status Engine::Settle(Step& step, Frontier& in, Frontier& out) {
  using Value = typename Step::Value;
  constexpr std::size_t kMessageBytes = std::is_empty_v<Value> ? 0 : sizeof(Value);
  VertexLists& list = out.list();
  std::array<std::uint64_t, 3> sums{};  // vertices, their edges, and those that have been walked
  for (const Found& found : found_) {
    sums[1] += found.edges;
    sums[2] += found.walked;
  }
  if (exchange_.peers() == 0) {
    TakeFound(list);
    out.SetActive({list.size(), sums[1]});
    in.SetEdges(sums[2]);
    return {};
  }
  arrived_.clear();
  exchange_.Begin([&](NodeId, Bytes bytes) {
    constexpr std::size_t kAhead = kLookAhead * (sizeof(VertexId) + kMessageBytes);
    for (std::size_t at = 0; at < bytes.size();) {
      if (std::size_t later = at + kAhead; later < bytes.size()) {
        AskFor(step, Take<VertexId>(bytes, later));
      }
      const auto v = Take<VertexId>(bytes, at);
      Value message{};
      if constexpr (kMessageBytes > 0) message = Take<Value>(bytes, at);
      if (!step.Slot(v, message) || Defers(step, 0, v)) continue;
      if (kActivatesOnce<Step> || out.Add(v)) arrived_.push_back(v);
    }
  });
  for (Found& found : found_) {
    Status sent;
    found.vertices.Filter([&](VertexId v, VertexId later) {
      AskFor(step, later);
      const NodeId to = work_.worker(v);
      if (to == exchange_.self()) return true;
      if (!kActivatesOnce<Step>) out.Remove(v);
      if (filled_[to] + sizeof(VertexId) + kMessageBytes > Exchange::kMaxBytes) {
        if (Status box_sent = SendBox(to); !box_sent) sent = std::move(box_sent);
      }
      if (filled_[to] == 0) filled_[to] = sizeof(Exchange::Header);
      Put(boxes_[to], filled_[to], v);
      const Value message = step.Partial(v);
      if constexpr (kMessageBytes > 0) Put(boxes_[to], filled_[to], message);
      return false;
    });
    SLIM_TRY(std::move(sent));
  }
  TakeFound(list);
  for (NodeId i = 0; i < exchange_.peers(); ++i) SLIM_TRY(SendBox(exchange_.peer(i)));
  SLIM_TRY(exchange_.End(std::span<std::uint64_t>()));
  list.part(0).append(arrived_);
  sums[1] += EdgesOf(arrived_);
  sums[0] = list.size();
  SLIM_TRY(exchange_.Reduce(std::span(sums)));
  out.SetActive({sums[0], sums[1]});
  in.SetEdges(sums[2]);
  return {};
}

}  // namespace slimgraph
