// Estimates the bytes of a step that pulls: by reading lists of memory nodes, and by reduction.
#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include "dgemini/frontier.h"
#include "dgemini/step.h"
#include "dgemini/workload.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph::dgemini {

// The bytes that this compute node sends, or that memory nodes send to it.
struct StepBytes {
  std::uint64_t read = 0;           // of all that a step takes if it reads lists
  std::uint64_t read_of_lists = 0;  // the lists among them
  std::uint64_t reduce = 0;         // of all that a step takes if memory nodes reduce

  // For a vertex that wants to pull and whose list is on a memory node.
  // Vertices should come in ascending order.
  template <typename R>
  void AddList(const Workload& work, VertexId v, Direction direction) {
    const Workload::Segment& segment = work.segment_of(v);
    const DelegatedLists& lists = *segment.remote[static_cast<int>(direction)];
    const VertexId i = v - segment.first;
    const bool is_next = v == next_;
    if (!lists.MayHaveList(i)) {
      if (is_next) ++next_;
      return;
    }
    if constexpr (!std::is_empty_v<typename R::Result>) reduce += sizeof(typename R::Result);
    if (lists.IsHere(i)) return;
    const EdgeOffset length = lists.ExpectedLength(i);
    const std::uint64_t weight_bytes = length * lists.part().weight_bytes;
    const std::uint64_t bytes = lists.part().code.Bytes(length) + weight_bytes;
    // Lists that are next to each other are read by one operation.
    const std::uint64_t operations = is_next ? 0 : weight_bytes == 0 ? 1 : 2;
    read += bytes + operations * kOperationHeaderBytes;
    read_of_lists += bytes;
    next_ = v + 1;
  }

 private:
  VertexId next_ = 0;  // the vertex after the last whose list is read
};

// Everything but lists and results: the active vertices that go to other nodes, and the names of
// the vertices that want a result. `in` must have its bitmap.
template <typename Step>
StepBytes EstimateStep(const Workload& work, const Frontier& in, Direction direction) {
  using Value = typename Step::Value;
  constexpr std::uint64_t kValue = std::is_empty_v<Value> ? 0 : sizeof(Value);
  constexpr std::size_t kFew = 64;
  const bool few = in.has_list() && in.list().size() < work.vertices() / kFew;
  const auto bytes_of = [](std::uint64_t vertices, std::uint64_t most_bits) {
    return vertices * kValue + std::min(most_bits / 8, vertices * sizeof(VertexId));
  };
  const auto bytes_to = [&](Workload::Reader reader) {
    std::uint64_t bytes = 0;
    if (few) {
      std::uint64_t vertices = 0;
      in.list().ForEach([&](VertexId v) {
        const Workload::Segment& segment = work.segment_of(v);
        const std::size_t word = v / 64 - segment.first_word();
        vertices += work.needed_by(reader, direction, segment)[word] >> (v % 64) & 1;
      });
      return bytes_of(vertices, work.vertices());
    }
    for (const Workload::Segment& segment : work.segments()) {
      if (segment.count == 0) continue;
      const std::uint64_t* const needed = work.needed_by(reader, direction, segment);
      for (std::size_t word = segment.first_word(); word < segment.words_end(); ++word) {
        const std::uint64_t bits = in.word(word) & needed[word - segment.first_word()];
        bytes += bytes_of(static_cast<std::uint64_t>(std::popcount(bits)), 64);
      }
    }
    return bytes;
  };
  StepBytes bytes;
  for (NodeId node = 0; node < work.nodes(); ++node) {
    if (node == work.self()) continue;
    const bool computes = node < work.compute();
    if (computes) bytes.read += bytes_to(node);
    bytes.reduce += bytes_to(computes ? work.OwnListsOf(node) : node);
  }
  for (const Workload::Block& block : work.remote_blocks()) {
    if (!Step::Reduction::kOfAll) bytes.reduce += (block.end - block.first) / 8;
  }
  return bytes;
}

}  // namespace slimgraph::dgemini
