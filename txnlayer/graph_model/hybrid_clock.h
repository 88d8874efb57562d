// A node's hybrid logical clock: 48 bits of milliseconds since 1970, and a 16-bit counter. It never
// goes back, and advances past every time that it sees. So a transaction that has seen a write gets
// a later time, even if the clocks of the machines disagree.
#pragma once

#include <algorithm>
#include <atomic>

#include "slimgraph/base/clock.h"
#include "txnlayer/graph_model/graph_shape.h"

namespace slimgraph::txn {

constexpr unsigned kLogicalBits = 16;

class HybridClock {
 public:
  // A time later than all that it has returned, and later than `seen`. Thread-safe.
  GraphTime Next(GraphTime seen = 0) {
    const GraphTime physical = Physical();
    GraphTime last = last_.load(std::memory_order_relaxed);
    GraphTime next;
    do {
      next = std::max({physical, last + 1, seen + 1});
    } while (!last_.compare_exchange_weak(last, next));
    return next;
  }

  // Every later result of Next will be greater than `seen`.
  void Saw(GraphTime seen) {
    GraphTime last = last_.load(std::memory_order_relaxed);
    while (last < seen && !last_.compare_exchange_weak(last, seen)) {
    }
  }

  // The latest time that it has returned or seen.
  GraphTime last() const { return last_.load(std::memory_order_relaxed); }

  static GraphTime Physical() { return CalendarNs() / 1'000'000 << kLogicalBits; }

 private:
  std::atomic<GraphTime> last_{0};
};

}  // namespace slimgraph::txn
