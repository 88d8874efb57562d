// One pull step: every vertex with Wants(v) walks its own list.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "dgemini/exchange.h"
#include "dgemini/frontier.h"
#include "dgemini/internal/deferred.h"
#include "dgemini/internal/dense_loop.h"
#include "dgemini/internal/reduce_step.h"
#include "dgemini/step.h"

namespace slimgraph::dgemini {

// Collective over compute nodes. Sets `out` to the next frontier. With `reduce`, memory nodes
// reduce their lists. Without it, call this after Mirror has received all active vertices that this
// node's lists contain.
template <Pulls Step>
Status PullFrom(const Workload& work, Exchange& exchange, DenseLoop& loop, std::uint32_t threads,
                Frontier& in, Step& step, Frontier& out, ReduceSteps* reduce) {
  const Direction direction = work.in();
  const bool alone = exchange.peers() == 0;
  struct alignas(kCacheLineBytes) Tally {
    Frontier::Size size;
  };
  std::vector<Tally> tallies(threads);
  const auto wants = [&](VertexId v) { return step.Wants(v); };
  const auto walk = [&](DenseLoop::Which which) {
    return loop.Run(
        direction, wants,
        [&](std::uint32_t t, VertexId v, const Neighbours& list) {
          const bool found = CallPull(step, t, v, list) && !IsDeferred(work, alone, step, t, v);
          if (found) tallies[t].size.edges += direction == Direction::kOut ? list.ids.size() : 0;
          return found;
        },
        [&](std::uint32_t t, std::size_t word, std::uint64_t bits) {
          out.AddWord(word, bits);
          tallies[t].size.vertices += static_cast<std::uint64_t>(std::popcount(bits));
          if (direction == Direction::kOut) return;
          for (; bits != 0; bits &= bits - 1) {
            const std::size_t v = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            tallies[t].size.edges += work.Degree(static_cast<VertexId>(v));
          }
        },
        which);
  };
  if (reduce == nullptr) {
    SLIM_TRY(walk(DenseLoop::Which::kAll));
  } else if constexpr (Reduces<Step>) {
    SLIM_TRY(reduce->Run(
        in, step, direction, wants, [&] { return walk(DenseLoop::Which::kOwn); },
        [&](std::uint32_t t, VertexId v, const typename Step::Reduction::Result& result) {
          if (!step.Finish(v, result) || IsDeferred(work, alone, step, t, v)) return;
          out.AddWord(v / 64, std::uint64_t{1} << (v % 64));
          ++tallies[t].size.vertices;
          tallies[t].size.edges += work.Degree(v);
        }));
  }
  out.SetHasList(false);
  std::array<std::uint64_t, 2> sums{};
  for (const Tally& tally : tallies) {
    sums[0] += tally.size.vertices;
    sums[1] += tally.size.edges;
  }
  SLIM_TRY(exchange.Reduce(std::span(sums)));
  out.SetActive({sums[0], sums[1]});
  return {};
}

}  // namespace slimgraph::dgemini
