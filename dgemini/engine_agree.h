// The engine's way of making values agree that merge in any order. Included by engine.h.
#pragma once

#include "dgemini/engine.h"
#include "dgemini/marked_array.h"

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
// one's own goes to all that meet them in their lists. What has been told of either is remembered.
template <typename Step>
Status Engine::Agree(Step& step) {
  if (exchange_.peers() == 0) return {};
  using Value = typename Step::Value;
  const auto needs = [&](NodeId peer, std::size_t word) {
    return work_.needed_by(peer, Direction::kOut)[word];
  };
  std::vector<std::uint64_t> others = work_.met();
  std::vector<std::uint64_t> ours(others.size());
  for (const Workload::Segment& segment : work_.segments()) {
    for (std::size_t word = segment.first / 64; word < segment.words_end(); ++word) {
      others[word] &= ~segment.bits_of(word);
      for (NodeId i = 0; i < exchange_.peers(); ++i) ours[word] |= needs(exchange_.peer(i), word);
    }
  }
  MarkedArray<Value> told_up(std::move(others));
  MarkedArray<Value> told_down(std::move(ours));
  told_up.ForEach([&](VertexId v, Value& told) { told = step.Initial(v); });
  told_down.ForEach([&](VertexId v, Value& told) { told = step.Initial(v); });
  Status sent;
  const auto put = [&](NodeId to, VertexId v, const Value& message) {
    if (filled_[to] + sizeof v + sizeof message > Exchange::kMaxBytes) {
      if (Status box_sent = SendBox(to); !box_sent) sent = std::move(box_sent);
    }
    if (filled_[to] == 0) filled_[to] = sizeof(Exchange::Header);
    Put(boxes_[to], filled_[to], v);
    Put(boxes_[to], filled_[to], message);
  };
  const auto consume = [&](NodeId, Bytes bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto v = Take<VertexId>(bytes, at);
      const auto message = Take<Value>(bytes, at);
      step.Slot(v, message);
      // Its owner need not hear it again.
      if (!mine(v) && step.Signal(v) == message) told_up[v] = message;
    }
  };
  const auto finish = [&](std::uint64_t& messages) -> Status {
    SLIM_TRY(std::move(sent));
    for (NodeId i = 0; i < exchange_.peers(); ++i) SLIM_TRY(SendBox(exchange_.peer(i)));
    return exchange_.End(std::span(&messages, 1));
  };
  while (true) {
    std::uint64_t sent_up = 0;
    exchange_.Begin(consume);
    told_up.ForEach([&](VertexId v, Value& told) {
      const Value now = step.Signal(v);
      if (now == told) return;
      told = now;
      ++sent_up;
      put(work_.worker(v), v, now);
    });
    SLIM_TRY(finish(sent_up));

    std::uint64_t sent_down = 0;
    exchange_.Begin(consume);
    told_down.ForEach([&](VertexId v, Value& told) {
      const Value now = step.Signal(v);
      if (now == told) return;
      told = now;
      for (NodeId i = 0; i < exchange_.peers(); ++i) {
        const NodeId peer = exchange_.peer(i);
        if ((needs(peer, v / 64) >> (v % 64) & 1) == 0) continue;
        ++sent_down;
        put(peer, v, now);
      }
    });
    SLIM_TRY(finish(sent_down));
    if (sent_up + sent_down == 0) return {};
  }
}

}  // namespace slimgraph
