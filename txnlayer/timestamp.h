// Timestamps of transactions: local clock ‖ node ‖ thread ‖ coroutine. They are unique, never 0,
// and ascend in each thread; the clock is pulled forward by every larger timestamp that is seen.
#pragma once

#include <algorithm>
#include <cstdint>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/types.h"

namespace slimgraph::txn {

using Timestamp = std::uint64_t;

constexpr unsigned kCoroutineBits = 8;
constexpr unsigned kThreadBits = 8;
constexpr unsigned kNodeBits = 6;
constexpr unsigned kOwnerBits = kNodeBits + kThreadBits + kCoroutineBits;
constexpr unsigned kClockBits = 64 - kOwnerBits;  // of microseconds: 50 days
constexpr std::uint32_t kMaxCoroutines = 1U << kCoroutineBits;
constexpr std::uint32_t kMaxThreads = 1U << kThreadBits;
static_assert(kMaxNodes <= 1U << kNodeBits);

// Which coroutine of the job it is: a part of its timestamps.
constexpr std::uint64_t OwnerOf(NodeId node, std::uint32_t thread, std::uint32_t coroutine) {
  return (std::uint64_t{node} << (kThreadBits + kCoroutineBits)) |
         (std::uint64_t{thread} << kCoroutineBits) | coroutine;
}

// One thread's.
class TimestampSource {
 public:
  // At that time of NowNs(), or a little later.
  Timestamp Next(std::uint64_t owner, std::uint64_t now_ns = NowNs()) {
    tick_ = std::max(tick_ + 1, (std::max(now_ns, start_ns_) - start_ns_) / 1000);
    return (tick_ << kOwnerBits) | owner;
  }
  // Not older than any that it has given or seen.
  Timestamp Latest() const { return tick_ << kOwnerBits; }
  void Saw(Timestamp timestamp) { tick_ = std::max(tick_, timestamp >> kOwnerBits); }

 private:
  std::uint64_t start_ns_ = NowNs();
  std::uint64_t tick_ = 1;  // 1 is left to what was there before all transactions
};

}  // namespace slimgraph::txn
