// The engine's way of making values agree that merge in any order. Included by engine.h.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

template <typename Wants, typename Visit>
Status Engine::ForEachList(Wants wants, Visit visit) {
  return loop_.Dense(
      Direction::kOut, wants,
      [&](std::uint32_t, VertexId u, const Neighbours& list) {
        visit(u, list);
        return false;
      },
      [](std::uint32_t, std::size_t, std::uint64_t) {});
}

// In turns: what others' vertices have become here goes to their owners, and what has become of
// one's own goes to all that meet them in their lists.
template <typename Step>
Status Engine::Agree(Step& step) {
  if (exchange_.peers() == 0) return {};
  using Value = typename Step::Value;
  VertexArray<Value> told(vertices());
  const auto& met = work_.met();
  for (std::size_t word = 0; word < met.size(); ++word) {
    for (std::uint64_t bits = met[word]; bits != 0; bits &= bits - 1) {
      const std::size_t v = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      told[v] = step.Initial(static_cast<VertexId>(v));
    }
  }
  ForEach([&](VertexId v) { told[v] = step.Initial(v); });
  const auto put = [&](NodeId to, VertexId v, const Value& message) -> Status {
    if (filled_[to] + sizeof v + sizeof message > Exchange::kMaxBytes) SLIM_TRY(SendBox(to));
    if (filled_[to] == 0) filled_[to] = sizeof(Exchange::Header);
    Put(boxes_[to], filled_[to], v);
    Put(boxes_[to], filled_[to], message);
    return {};
  };
  const auto consume = [&](NodeId, Bytes bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto v = Take<VertexId>(bytes, at);
      const auto message = Take<Value>(bytes, at);
      step.Slot(v, message);
      // Its owner need not hear it again.
      if (!mine(v) && step.Signal(v) == message) told[v] = message;
    }
  };
  const auto finish = [&](std::uint64_t& sent) -> Status {
    for (NodeId i = 0; i < exchange_.peers(); ++i) SLIM_TRY(SendBox(exchange_.peer(i)));
    return exchange_.End(std::span(&sent, 1));
  };
  while (true) {
    std::uint64_t sent_up = 0;
    exchange_.Begin(consume);
    for (std::size_t word = 0; word < met.size(); ++word) {
      for (std::uint64_t bits = met[word]; bits != 0; bits &= bits - 1) {
        const auto v =
            static_cast<VertexId>(word * 64) + static_cast<VertexId>(std::countr_zero(bits));
        const NodeId owner = work_.worker(v);
        const Value now = step.Signal(v);
        if (owner == exchange_.self() || now == told[v]) continue;
        told[v] = now;
        ++sent_up;
        SLIM_TRY(put(owner, v, now));
      }
    }
    SLIM_TRY(finish(sent_up));

    std::uint64_t sent_down = 0;
    exchange_.Begin(consume);
    for (const Workload::Segment& segment : work_.segments()) {
      for (VertexId v = segment.first; v < segment.end(); ++v) {
        const Value now = step.Signal(v);
        if (now == told[v]) continue;
        told[v] = now;
        for (NodeId i = 0; i < exchange_.peers(); ++i) {
          const NodeId peer = exchange_.peer(i);
          if ((work_.needed_by(peer, Direction::kOut)[v / 64] >> (v % 64) & 1) == 0) continue;
          ++sent_down;
          SLIM_TRY(put(peer, v, now));
        }
      }
    }
    SLIM_TRY(finish(sent_down));
    if (sent_up + sent_down == 0) return {};
  }
}

}  // namespace slimgraph
