// Finds how many coroutines of a thread should run transactions at a time. More of them hide the
// wait for other nodes, but meet each other more often, and each transaction takes longer.
//
// Each number is tried for a moment, several times. The smallest is taken whose rate is almost the
// best. The threads of all nodes begin at about the same time, so they try the same number
// together.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "txnlayer/workload/driver.h"

namespace slimgraph::txn {

// Belongs to one thread.
class Concurrency {
 public:
  static constexpr std::array<std::uint32_t, 5> kTried = {8, 4, 2, 1, 16};
  static constexpr std::uint32_t kMost = kMostFoundCoroutines;

  // The first round does not count, since caches are cold.
  static constexpr std::uint32_t kRounds = 4;

  // For a run of so many seconds, which begins then.
  Concurrency(std::uint64_t start_ns, double seconds);

  // Whether the coroutine of that index may begin a transaction now. If not, it asks again at
  // until_ns().
  bool MayBegin(std::uint32_t coroutine, std::uint64_t now_ns);
  std::uint64_t until_ns() const { return until_ns_; }
  void CountCommit() { ++committed_; }
  bool chosen() const { return windows_ == kRounds * kTried.size(); }
  // Once: whether the number was chosen since the last call.
  bool TakeJustChosen() { return std::exchange(just_chosen_, false); }
  // The number that was chosen; the last that was tried, if the run has ended before.
  std::uint32_t active() const { return active_; }

 private:
  void EndWindow(std::uint64_t now_ns);
  std::uint32_t Choose() const;

  const std::uint64_t window_ns_;
  std::uint64_t since_ns_;
  std::uint64_t until_ns_;
  std::uint32_t windows_ = 0;
  std::uint32_t active_ = kTried[0];
  std::uint64_t committed_ = 0;  // in this window
  bool just_chosen_ = false;
  std::array<double, kTried.size()> rates_ = {};
};

}  // namespace slimgraph::txn
