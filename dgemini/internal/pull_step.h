// One pull step: every vertex with Wants(v) walks its own list.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "dgemini/exchange.h"
#include "dgemini/frontier.h"
#include "dgemini/internal/deferred.h"
#include "dgemini/internal/dense_loop.h"
#include "dgemini/step.h"

namespace slimgraph::dgemini {

// Collective over compute nodes. Call it after Mirror has received all active vertices that this
// node's lists contain. Sets `out` to the next frontier.
template <Pulls Step>
Status PullFrom(const Workload& work, Exchange& exchange, DenseLoop& loop, std::uint32_t threads,
                Step& step, Frontier& out) {
  const Direction direction = work.in();
  const bool alone = exchange.peers() == 0;
  struct alignas(kCacheLineBytes) Tally {
    Frontier::Size size;
  };
  std::vector<Tally> tallies(threads);
  SLIM_TRY(loop.Run(
      direction, [&](VertexId v) { return step.Wants(v); },
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
      }));
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
