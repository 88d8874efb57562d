// The numbers 0 .. count - 1, divided among threads. Each thread has a range of its own, so it
// works on the same data in each loop. A thread that has finished its range steals from the
// others'.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph {

class WorkShares {
 public:
  // For `threads` threads and the numbers 0 .. count - 1. No thread may call Take() meanwhile.
  void Share(std::size_t count, std::uint32_t threads) {
    if (parts_.size() != threads) parts_ = std::vector<Part>(threads);
    for (std::uint32_t t = 0; t < threads; ++t) {
      parts_[t].next.store(count * t / threads, std::memory_order_relaxed);
      parts_[t].end = count * (t + 1) / threads;
    }
  }
  // The begin and end of up to `most` consecutive numbers; nothing when none is left.
  std::optional<std::pair<std::size_t, std::size_t>> Take(std::uint32_t thread, std::size_t most) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[(thread + i) % parts_.size()];
      if (part.next.load(std::memory_order_relaxed) >= part.end) continue;
      const std::size_t first = part.next.fetch_add(most, std::memory_order_relaxed);
      if (first < part.end) return std::pair(first, std::min(first + most, part.end));
    }
    return {};
  }

 private:
  struct alignas(kCacheLineBytes) Part {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };
  std::vector<Part> parts_;  // by thread
};

}  // namespace slimgraph
