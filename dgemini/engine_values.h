// What programs do with values and frontiers besides steps. Included by engine.h.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

template <typename T>
VertexArray<T> Engine::Values(T initial) {
  VertexArray<T> values(vertices());
  ForAll([&](VertexId v) { values[v] = initial; });
  return values;
}

// A swap would leave both with copies of others' values.
template <typename T>
void Engine::Replace(VertexArray<T>& values, VertexArray<T>& next) {
  if (alone()) return std::swap(values, next);
  ForEach([&](VertexId v) { values[v] = next[v]; });
}

template <typename Kept>
Status Engine::Refill(Frontier& frontier, Kept& kept) {
  frontier.Clear();
  VertexLists& list = frontier.list();
  for (std::uint32_t t = 0; t < threads(); ++t) {
    kept.Take(t, list.part(t));
    if (alone()) continue;
    list.part(t).Filter([&](VertexId v, VertexId later) {
      AskFor(kept, later);
      return kept.Wants(v) && frontier.Add(v);
    });
  }
  frontier.SetMarked(!alone());
  return Count(frontier);
}

template <typename Body>
void Engine::ForEachListed(const VertexLists& list, Body body) {
  const std::size_t size = list.size();
  const std::size_t shares = size < ListLoop::kSerialLists ? 1 : threads();
  const auto on_thread = [&](std::size_t t) {
    list.ForRange(t * size / shares, (t + 1) * size / shares,
                  [&](std::span<const VertexId> part, std::size_t first, std::size_t end) {
                    body(part.subspan(first, end - first));
                  });
  };
  if (shares == 1) return on_thread(0);
  team_.Run([&](std::uint32_t t) { on_thread(t); });
}

template <typename Body>
void Engine::ForAll(Body body) {
  const std::uint64_t each = (std::uint64_t{vertices()} + threads() - 1) / threads();
  team_.Run([&](std::uint32_t t) {
    const std::uint64_t end = std::min<std::uint64_t>(vertices(), (t + 1) * each);
    for (std::uint64_t v = t * each; v < end; ++v) body(static_cast<VertexId>(v));
  });
}

template <typename Body>
void Engine::ForEachBlock(Body body) {
  const auto& own = work_.own_blocks();
  const auto& remote = work_.remote_blocks();
  WorkShares blocks;
  blocks.Share(own.size() + remote.size(), threads());
  team_.Run([&](std::uint32_t t) {
    while (const auto taken = blocks.Take(t, 1)) {
      const std::size_t i = taken->first;
      body(t, i, i < own.size() ? own[i] : remote[i - own.size()]);
    }
  });
}

template <typename Body>
void Engine::ForEach(Body body) {
  ForEachBlock([&](std::uint32_t, std::size_t, const Workload::Block& block) {
    for (VertexId v = block.first; v < block.end; ++v) body(v);
  });
}

// By block, so that the sum does not depend on which thread takes which.
template <typename Of>
Result<double> Engine::Sum(Of of) {
  std::vector<double> sums(work_.own_blocks().size() + work_.remote_blocks().size());
  ForEachBlock([&](std::uint32_t, std::size_t i, const Workload::Block& block) {
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
  if (exchange_.peers() == 0) return {};
  exchange_.Begin([&](NodeId, Bytes bytes) {
    std::size_t at = 0;
    const auto first = Take<VertexId>(bytes, at);
    std::memcpy(values.data() + first, bytes.data() + at, bytes.size() - at);
  });
  constexpr std::size_t kHead = sizeof(Exchange::Header) + sizeof(VertexId);
  constexpr std::size_t kMany = (Exchange::kMaxBytes - kHead) / sizeof(T);
  for (const Workload::Segment& segment : work_.segments()) {
    if (first()) break;
    for (VertexId v = segment.first; v < segment.end();) {
      const auto count = static_cast<VertexId>(std::min<std::size_t>(kMany, segment.end() - v));
      filled_[0] = sizeof(Exchange::Header);
      Put(boxes_[0], filled_[0], v);
      std::memcpy(boxes_[0].data() + filled_[0], values.data() + v, count * sizeof(T));
      filled_[0] += count * sizeof(T);
      SLIM_TRY(SendBox(0));
      v += count;
    }
  }
  return exchange_.End(std::span<std::uint64_t>());
}

}  // namespace slimgraph
