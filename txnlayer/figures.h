// What is counted of transactions: by each thread for itself, summed up afterwards.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "txnlayer/access.h"
#include "txnlayer/stages.h"

namespace slimgraph::txn {

// Durations in buckets that differ by an eighth.
class Latencies {
 public:
  void Add(std::uint64_t ns) { ++counts_[BucketOf(ns)]; }
  // The duration that `share` of all do not exceed, in nanoseconds.
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
  // How often each stage was run and how long that took, two-sided and one-sided.
  using OfStages = std::array<std::uint64_t, kNumStages>;
  std::array<OfStages, 2> stage_runs{};
  std::array<OfStages, 2> stage_ns{};
  std::uint64_t most_tries = 0;  // of a transaction that has committed in the end
  Latencies latencies;

  std::uint64_t all_aborted() const;
  // Stages have been measured in ticks.
  void TicksToNs(double ns_per_tick);
  // The mean of a stage's form, in nanoseconds; 0 where it was not run.
  double StageNs(Stage stage, bool one_sided) const;
  // All members are numbers, added one by one but for the largest of tries.
  void Add(const Figures& other);
};

}  // namespace slimgraph::txn
