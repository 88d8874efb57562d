// A node's hybrid clock: 48 bits of milliseconds since 1970, and 16 that count beyond them. It
// never goes back, and is pulled forward by every time that it is shown, so that whoever has seen a
// write comes after it, whatever the clocks of the machines say.
#pragma once

#include <time.h>

#include <algorithm>
#include <atomic>

#include "txnlayer/graph/graph_shape.h"

namespace slimgraph::txn {

constexpr unsigned kLogicalBits = 16;

class HybridClock {
 public:
  // Later than all it has given, and than `seen`. From any thread.
  GraphTime Next(GraphTime seen = 0) {
    const GraphTime physical = Physical();
    GraphTime last = last_.load(std::memory_order_relaxed);
    GraphTime next;
    do {
      next = std::max({physical, last + 1, seen + 1});
    } while (!last_.compare_exchange_weak(last, next));
    return next;
  }

  // All that it gives from here on is later than `seen`.
  void Saw(GraphTime seen) {
    GraphTime last = last_.load(std::memory_order_relaxed);
    while (last < seen && !last_.compare_exchange_weak(last, seen)) {
    }
  }

  // The last that it has given, or seen.
  GraphTime last() const { return last_.load(std::memory_order_relaxed); }

  static GraphTime Physical() {
    timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    const auto ms = static_cast<std::uint64_t>(now.tv_sec) * 1000 +
                    static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
    return ms << kLogicalBits;
  }

 private:
  std::atomic<GraphTime> last_{0};
};

}  // namespace slimgraph::txn
