// Faults to inject at one endpoint, so that tests can show how failures are handled. Part of the
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
  // Delays every operation on `node`, and every message to it, by this time.
  void Delay(NodeId node, std::chrono::nanoseconds by) { delay_ns_[node] = by.count(); }

  // Operation number `index` of the next doorbell to `node` fails without being tried.
  void FailNext(NodeId node, std::uint32_t index = 0) { fail_next_[node] = index; }

  // Each doorbell fails with this probability, at a random operation.
  void FailAtRandom(double probability, std::uint64_t seed) {
    probability_ = probability;
    random_.seed(seed);
  }

  // Simulates packet loss: each doorbell and each message is lost with this probability and sent
  // again after a timeout that doubles with each loss. So it only takes longer: it is neither
  // executed twice nor overtaken. If messages travel as datagrams, real datagrams are dropped
  // instead.
  void LoseAtRandom(double probability, std::uint64_t seed) {
    loss_probability_ = probability;
    loss_random_.seed(seed);
  }

  // From now on `node` is unreachable: operations, also those under way, fail with kPeerLost, and
  // messages are dropped.
  void Cut(NodeId node) { cut_.insert(node); }

  void Clear() { *this = Faults(); }

  // --- called by the endpoint
  bool any() const {
    return probability_ > 0 || loss_probability_ > 0 || !delay_ns_.empty() || !fail_next_.empty() ||
           !cut_.empty();
  }
  bool cut(NodeId node) const { return cut_.contains(node); }
  // By how much the next doorbell or message to `node` is delayed, including losses if it
  // `can_be_lost`.
  std::uint64_t DrawDelayNs(NodeId node, bool can_be_lost = true) {
    const auto found = delay_ns_.find(node);
    std::uint64_t delay = found == delay_ns_.end() ? 0 : static_cast<std::uint64_t>(found->second);
    std::uint64_t missed_after_ns = 500'000;
    for (int lost = 0; can_be_lost && lost < kMaxLosses && DrawLoss();
         ++lost, missed_after_ns *= 2) {
      delay += missed_after_ns;
    }
    return delay;
  }
  // The index of the operation, of `count`, that shall fail; `count` if none shall.
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

  // Draws whether the next packet is lost.
  bool DrawLoss() {
    return loss_probability_ > 0 && std::bernoulli_distribution(loss_probability_)(loss_random_);
  }

 private:
  static constexpr int kMaxLosses = 6;  // limits the delay of one doorbell or message

  std::map<NodeId, std::int64_t> delay_ns_;
  std::map<NodeId, std::uint32_t> fail_next_;
  std::set<NodeId> cut_;
  double probability_ = 0;
  std::mt19937_64 random_;
  double loss_probability_ = 0;
  std::mt19937_64 loss_random_;
};

}  // namespace slimgraph
