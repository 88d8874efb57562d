// Makes copies of values on several nodes agree. The values must merge in any order.
#pragma once

#include <vector>

#include "dgemini/exchange.h"
#include "dgemini/internal/marked_array.h"
#include "dgemini/internal/out_boxes.h"
#include "dgemini/step.h"
#include "dgemini/workload.h"

namespace slimgraph::dgemini {

// Repeats two exchanges until nothing changes. First each node sends the changed values of other
// nodes' vertices to their owners. Then it sends the changed values of its own vertices to all
// nodes whose lists contain them. It sends no value twice, and none of vertices on whose values all
// these nodes agree already.
template <AgreeStep Step>
Status AgreeOn(const Workload& work, Exchange& exchange, OutBoxes& boxes, Step& step) {
  if (exchange.peers() == 0) return {};
  using Value = typename Step::Value;
  const auto needs = [&](NodeId peer, const Workload::Segment& segment, std::size_t word) {
    return work.needed_by(peer, Direction::kOut, segment)[word - segment.first_word()];
  };
  std::vector<std::uint64_t> others = work.referenced();
  std::vector<std::uint64_t> ours(others.size());
  for (const Workload::Segment& segment : work.segments()) {
    for (std::size_t word = segment.first_word(); word < segment.words_end(); ++word) {
      others[word] &= ~segment.bits_of(word);
      for (NodeId i = 0; i < exchange.peers(); ++i) {
        ours[word] |= needs(exchange.peer(i), segment, word);
      }
    }
  }
  for (std::size_t word = 0; word < others.size(); ++word) {
    others[word] &= ~step.Agreed(word);
    ours[word] &= ~step.Agreed(word);
  }
  MarkedArray<Value> sent_to_owner(std::move(others));
  MarkedArray<Value> sent_to_readers(std::move(ours));
  sent_to_owner.ForEach([&](VertexId v, Value& last_sent) { last_sent = step.Initial(v); });
  sent_to_readers.ForEach([&](VertexId v, Value& last_sent) { last_sent = step.Initial(v); });
  Status sent;
  const auto put = [&](NodeId to, VertexId v, const Value& message) {
    OutBoxes::Box& box = boxes.box(to);
    if (!box.MakeRoom(sizeof v + sizeof message)) {
      if (Status box_sent = boxes.Send(to); !box_sent) sent = std::move(box_sent);
    }
    if (box.empty()) box.Open();
    box.Put(v);
    box.Put(message);
  };
  const auto consume = [&](NodeId, Bytes bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto v = Take<VertexId>(bytes, at);
      const auto message = Take<Value>(bytes, at);
      step.Slot(v, message);
      // The owner has this value, so it is not sent back.
      if (!work.mine(v) && step.Signal(v) == message) sent_to_owner[v] = message;
    }
  };
  const auto finish = [&](std::uint64_t& messages) -> Status {
    SLIM_TRY(std::move(sent));
    SLIM_TRY(boxes.SendAll());
    return exchange.End(std::span(&messages, 1));
  };
  while (true) {
    std::uint64_t sent_up = 0;
    exchange.Begin(consume);
    sent_to_owner.ForEach([&](VertexId v, Value& last_sent) {
      const Value now = step.Signal(v);
      if (now == last_sent) return;
      last_sent = now;
      ++sent_up;
      put(work.worker(v), v, now);
    });
    SLIM_TRY(finish(sent_up));

    std::uint64_t sent_down = 0;
    exchange.Begin(consume);
    sent_to_readers.ForEach([&](VertexId v, Value& last_sent) {
      const Value now = step.Signal(v);
      if (now == last_sent) return;
      last_sent = now;
      const Workload::Segment& segment = work.segment_of(v);
      for (NodeId i = 0; i < exchange.peers(); ++i) {
        const NodeId peer = exchange.peer(i);
        if ((needs(peer, segment, v / 64) >> (v % 64) & 1) == 0) continue;
        ++sent_down;
        put(peer, v, now);
      }
    });
    SLIM_TRY(finish(sent_down));
    if (sent_up + sent_down == 0) return {};
  }
}

}  // namespace slimgraph::dgemini
