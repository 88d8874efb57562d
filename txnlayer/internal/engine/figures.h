// Counters of transactions. Each thread has its own, and they are summed up afterwards.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "txnlayer/internal/stages/access.h"
#include "txnlayer/internal/stages/stages.h"

namespace slimgraph::txn {

// A histogram of durations with eight buckets for each power of two.
class Latencies {
 public:
  void Add(std::uint64_t ns) { ++counts_[BucketOf(ns)]; }
  // The duration, in nanoseconds, that the given share of all durations does not exceed.
  double Percentile(double share) const;

 private:
  static constexpr std::size_t kBuckets = 64 * 8;
  static std::size_t BucketOf(std::uint64_t ns) {
    if (ns < 8) return ns;
    const auto top = static_cast<unsigned>(std::bit_width(ns)) - 1;
    return (top - 2) * 8 + ((ns >> (top - 3)) & 7);
  }
  static double Middle(std::size_t bucket);

  std::array<std::uint64_t, kBuckets> counts_{};
};

struct Figures {
  std::uint64_t committed = 0;
  std::array<std::uint64_t, kNumAbortReasons> aborted{};
  // How often each stage was run and how long that took; index 0: two-sided, 1: one-sided.
  using OfStages = std::array<std::uint64_t, kNumStages>;
  std::array<OfStages, 2> stage_runs{};
  std::array<OfStages, 2> stage_ns{};
  std::uint64_t stopped_begins = 0;  // transactions that waited to begin, in a stop of the world
  std::uint64_t most_tries = 0;      // the most attempts of a transaction that has committed
  // With read timestamps: read-only transactions that have committed, and those that were aborted,
  // other than by their callers and deaths. And by how much a commit time
  // that one of them met was at most ahead of its node's clock: so long after a commit, that node's
  // read-only transactions may not see it.
  std::uint64_t read_only = 0;
  std::uint64_t read_only_aborts = 0;
  std::uint64_t most_ahead_us = 0;
  Latencies latencies;

  std::uint64_t all_aborted() const;
  std::uint64_t refused() const;  // part of all_aborted()
  // Converts the durations of stages, which were measured in ticks.
  void TicksToNs(double ns_per_tick);
  // The mean duration of a form of a stage, in nanoseconds; 0 when it was not run.
  double StageNs(Stage stage, bool one_sided) const;
  // Adds all members, which are 64-bit numbers; of those named `most`, it takes the maximum.
  void Add(const Figures& other);
};

}  // namespace slimgraph::txn
