#include "txnlayer/internal/engine/figures.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace slimgraph::txn {

const char* RefusalText(AbortReason reason) {
  switch (reason) {
    case AbortReason::kNoRoom:
      return "a table is full: fewer inserts, or nodes with more memory (over verbs, more --rows), "
             "are needed";
    case AbortReason::kTooLarge:
      return "it writes more than a quarter of its log (--log-memory)";
    case AbortReason::kNamedLate:
      return "it named a tuple after its first Fetch; the protocol takes all of them at once";
    case AbortReason::kBadValue:
      return "a value that does not fit what is stored";
    case AbortReason::kTimeEnded:
      return "a record has reached the protocol's largest logical time: start the job again";
    default:
      return "";
  }
}

double Latencies::Middle(std::size_t bucket) {
  if (bucket < 8) return static_cast<double>(bucket);
  const std::size_t top = bucket / 8 + 2;
  const double step = static_cast<double>(std::uint64_t{1} << (top - 3));
  return (8.5 + static_cast<double>(bucket % 8)) * step;
}

double Latencies::Percentile(double share) const {
  const std::uint64_t all = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(all));
  std::uint64_t below = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    below += counts_[bucket];
    if (below > wanted) return Middle(bucket);
  }
  return 0;
}

std::uint64_t Figures::refused() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kNumAbortReasons; ++i) {
    if (IsRefusal(static_cast<AbortReason>(i))) sum += aborted[i];
  }
  return sum;
}

std::uint64_t Figures::all_aborted() const {
  return std::accumulate(aborted.begin(), aborted.end(), std::uint64_t{0});
}

void Figures::TicksToNs(double ns_per_tick) {
  for (OfStages& form : stage_ns) {
    for (std::uint64_t& one : form) {
      one = static_cast<std::uint64_t>(static_cast<double>(one) * ns_per_tick);
    }
  }
}

double Figures::StageNs(Stage stage, bool one_sided) const {
  const auto i = static_cast<std::size_t>(stage);
  const std::uint64_t runs = stage_runs[one_sided ? 1 : 0][i];
  if (runs == 0) return 0;
  return static_cast<double>(stage_ns[one_sided ? 1 : 0][i]) / static_cast<double>(runs);
}

void Figures::Add(const Figures& other) {
  static_assert(std::is_trivially_copyable_v<Figures> && sizeof(Figures) % 8 == 0);
  constexpr std::size_t kCount = sizeof(Figures) / 8;
  const std::uint64_t tries = std::max(most_tries, other.most_tries);
  const std::uint64_t ahead = std::max(most_ahead_us, other.most_ahead_us);
  std::array<std::uint64_t, kCount> mine;
  std::array<std::uint64_t, kCount> theirs;
  std::memcpy(mine.data(), this, sizeof *this);
  std::memcpy(theirs.data(), &other, sizeof other);
  for (std::size_t i = 0; i < kCount; ++i) mine[i] += theirs[i];
  std::memcpy(static_cast<void*>(this), mine.data(), sizeof *this);
  most_tries = tries;
  most_ahead_us = ahead;
}

}  // namespace slimgraph::txn
