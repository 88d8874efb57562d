// The numbers below some count, shared out to threads: each has a range of its own, so that it
// meets in one loop what it has worked on in the one before, and whoever is done takes of the
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
  // For `threads` threads and numbers 0 .. count - 1. While no thread takes any.
  void Share(std::size_t count, std::uint32_t threads) {
    if (parts_.size() != threads) parts_ = std::vector<Part>(threads);
    for (std::uint32_t t = 0; t < threads; ++t) {
      parts_[t].next.store(count * t / threads, std::memory_order_relaxed);
      parts_[t].end = count * (t + 1) / threads;
    }
  }
  // The first and the end of up to `most` neighbouring numbers; nothing when none is left.
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
