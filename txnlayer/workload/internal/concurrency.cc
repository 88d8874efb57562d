#include "txnlayer/workload/internal/concurrency.h"

#include <algorithm>

namespace slimgraph::txn {
namespace {

// How much of the run is for trying.
constexpr double kShare = 0.08;
constexpr double kLeastWindowNs = 2e6;
constexpr double kMostWindowNs = 20e6;
// A rate so close to the best is as good: rates vary by as much, and fewer coroutines mean shorter
// transactions.
constexpr double kAsGood = 0.94;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

std::uint64_t WindowFor(double seconds) {
  const double window_ns =
      seconds * 1e9 * kShare / (Concurrency::kRounds * Concurrency::kTried.size());
  return static_cast<std::uint64_t>(std::clamp(window_ns, kLeastWindowNs, kMostWindowNs));
}

}  // namespace

Concurrency::Concurrency(std::uint64_t start_ns, double seconds)
    : window_ns_(WindowFor(seconds)), since_ns_(start_ns), until_ns_(start_ns + window_ns_) {}

bool Concurrency::MayBegin(std::uint32_t coroutine, std::uint64_t now_ns) {
  if (now_ns >= until_ns_) EndWindow(now_ns);
  return coroutine < active_;
}

void Concurrency::EndWindow(std::uint64_t now_ns) {
  const std::size_t tried = windows_ % kTried.size();
  if (windows_ >= kTried.size()) {
    const double rate = static_cast<double>(committed_) / static_cast<double>(now_ns - since_ns_);
    rates_[tried] = std::max(rates_[tried], rate);
  }
  committed_ = 0;
  since_ns_ = now_ns;
  ++windows_;
  if (chosen()) {
    active_ = Choose();
    until_ns_ = kNever;
    just_chosen_ = true;
  } else {
    active_ = kTried[windows_ % kTried.size()];
    // By the clock, so that all threads change at the same time.
    until_ns_ = std::max(until_ns_ + window_ns_, now_ns + window_ns_ / 2);
  }
}

std::uint32_t Concurrency::Choose() const {
  const double best = *std::max_element(rates_.begin(), rates_.end());
  std::uint32_t least = kMost;
  for (std::size_t i = 0; i < kTried.size(); ++i) {
    if (rates_[i] >= kAsGood * best) least = std::min(least, kTried[i]);
  }
  return least;
}

}  // namespace slimgraph::txn
