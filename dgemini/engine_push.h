// The engine's choice between push and pull, and the push step. Included by engine.h.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

template <typename Step>
bool Engine::PicksPull(const Frontier& in, const Step& step) const {
  if (mode_ != Mode::kAuto) return mode_ == Mode::kPull;
  const std::uint64_t edges = in.active().edges + in.active().vertices;
  std::uint64_t to_pull = work_.arcs();
  if constexpr (requires { step.left; }) to_pull = step.left + vertices();  // all are looked at
  return edges * Step::kPullAbove > to_pull;
}

template <typename Step>
bool Engine::Defers(Step& step, std::uint32_t thread, VertexId v) const {
  if constexpr (requires { step.Defers(thread, v); }) {
    return (alone() || mine(v)) && step.Defers(thread, v);
  }
  return false;
}

template <typename Step>
Status Engine::Advance(Frontier& in, Step& step, Frontier& out) {
  out.Clear();
  ++steps_;
  if (!PicksPull(in, step)) return PushStep(in, step, out);
  ++pulls_;
  return PullStep(in, step, out);
}

template <typename Step>
Status Engine::PushStep(Frontier& in, Step& step, Frontier& out) {
  const auto visit = [&](std::uint32_t t, VertexId u, const Neighbours& list) {
    std::vector<VertexId>& found = found_[t];
    step.Push(u, list, [&](VertexId v) {
      if (!Defers(step, t, v) && out.Add(v)) found.push_back(v);
    });
    return false;
  };
  if (!in.listed() && in.active().vertices < vertices() / 16) List(in);
  if (in.listed()) {
    SLIM_TRY(loop_.Sparse(Direction::kOut, in.list(), visit));
  } else {
    SLIM_TRY(loop_.Dense(
        Direction::kOut, [&](VertexId v) { return in.Has(v); }, visit,
        [](std::uint32_t, std::size_t, std::uint64_t) {}));
  }
  SLIM_TRY(Settle(step, out));
  return Count(out);
}

template <typename Step>
Status Engine::Settle(Step& step, Frontier& out) {
  using Value = typename Step::Value;
  constexpr std::size_t kMessageBytes = std::is_empty_v<Value> ? 0 : sizeof(Value);
  auto& list = out.list();
  if (exchange_.peers() == 0) {
    TakeFound(list);
    return {};
  }
  arrived_.clear();
  exchange_.Begin([&](NodeId, Bytes bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto v = Take<VertexId>(bytes, at);
      Value message{};
      if constexpr (kMessageBytes > 0) message = Take<Value>(bytes, at);
      if (step.Slot(v, message) && !Defers(step, 0, v) && out.Add(v)) arrived_.push_back(v);
    }
  });
  for (std::vector<VertexId>& found : found_) {
    for (const VertexId v : found) {
      const NodeId to = work_.worker(v);
      if (to == exchange_.self()) {
        list.push_back(v);
        continue;
      }
      out.Remove(v);
      if (filled_[to] + sizeof(VertexId) + kMessageBytes > Exchange::kMaxBytes) {
        SLIM_TRY(SendBox(to));
      }
      if (filled_[to] == 0) filled_[to] = sizeof(Exchange::Header);
      Put(boxes_[to], filled_[to], v);
      const Value message = step.Partial(v);
      if constexpr (kMessageBytes > 0) Put(boxes_[to], filled_[to], message);
    }
    found.clear();
  }
  for (NodeId i = 0; i < exchange_.peers(); ++i) SLIM_TRY(SendBox(exchange_.peer(i)));
  SLIM_TRY(exchange_.End(std::span<std::uint64_t>()));
  list.insert(list.end(), arrived_.begin(), arrived_.end());
  return {};
}

}  // namespace slimgraph
