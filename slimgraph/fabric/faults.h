// What shall go wrong at one endpoint, so that tests can show what happens then. Part of the
// interface, the same for all transports.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <set>

#include "slimgraph/base/types.h"

namespace slimgraph {

class Faults {
 public:
  // Every operation on and message to `node` takes this much longer.
  void Delay(NodeId node, std::chrono::nanoseconds by) { delay_ns_[node] = by.count(); }

  // Operation number `index` of the next doorbell to `node` fails, untried.
  void FailNext(NodeId node, std::uint32_t index = 0) { fail_next_[node] = index; }

  // Each doorbell fails with this probability, at a random operation.
  void FailAtRandom(double probability, std::uint64_t seed) {
    probability_ = probability;
    random_.seed(seed);
  }

  // Each doorbell and each message is lost on its way with this probability, and as it is missed it
  // goes out again: it takes longer, by more each time, and is neither done twice nor overtaken.
  // Where messages travel as datagrams, these are lost in earnest.
  void LoseAtRandom(double probability, std::uint64_t seed) {
    loss_probability_ = probability;
    loss_random_.seed(seed);
  }

  // From now on `node` cannot be reached: operations, also those under way, end in kPeerLost, and
  // messages vanish.
  void Cut(NodeId node) { cut_.insert(node); }

  void Clear() { *this = Faults(); }

  // --- for the endpoint
  bool any() const {
    return probability_ > 0 || loss_probability_ > 0 || !delay_ns_.empty() || !fail_next_.empty() ||
           !cut_.empty();
  }
  bool cut(NodeId node) const { return cut_.contains(node); }
  // How much longer the next doorbell or message to `node` takes, losses included if it
  // `can_be_lost`.
  std::uint64_t DrawDelayNs(NodeId node, bool can_be_lost = true) {
    const auto found = delay_ns_.find(node);
    std::uint64_t delay = found == delay_ns_.end() ? 0 : static_cast<std::uint64_t>(found->second);
    std::uint64_t missed_after_ns = 500'000;
    for (int lost = 0; can_be_lost && lost < kMostLosses && Loses(); ++lost, missed_after_ns *= 2) {
      delay += missed_after_ns;
    }
    return delay;
  }
  // Which of `count` operations shall fail; `count` for none.
  std::uint32_t ChooseFailure(NodeId node, std::uint32_t count) {
    if (const auto next = fail_next_.find(node); next != fail_next_.end()) {
      const std::uint32_t index = next->second;
      fail_next_.erase(next);
      return index < count ? index : count;
    }
    if (probability_ > 0 && std::bernoulli_distribution(probability_)(random_)) {
      return std::uniform_int_distribution<std::uint32_t>(0, count - 1)(random_);
    }
    return count;
  }

  // Whether the next that can get lost does.
  bool Loses() {
    return loss_probability_ > 0 && std::bernoulli_distribution(loss_probability_)(loss_random_);
  }

 private:
  static constexpr int kMostLosses = 6;  // of one doorbell or message, lest it take for ever

  std::map<NodeId, std::int64_t> delay_ns_;
  std::map<NodeId, std::uint32_t> fail_next_;
  std::set<NodeId> cut_;
  double probability_ = 0;
  std::mt19937_64 random_;
  double loss_probability_ = 0;
  std::mt19937_64 loss_random_;
};

}  // namespace slimgraph
