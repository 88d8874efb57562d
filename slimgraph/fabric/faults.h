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

  // From now on `node` cannot be reached: operations, also those under way, end in kPeerLost, and
  // messages vanish.
  void Cut(NodeId node) { cut_.insert(node); }

  void Clear() { *this = Faults(); }

  // --- for the endpoint
  bool any() const {
    return probability_ > 0 || !delay_ns_.empty() || !fail_next_.empty() || !cut_.empty();
  }
  bool cut(NodeId node) const { return cut_.contains(node); }
  std::uint64_t delay_ns(NodeId node) const {
    const auto found = delay_ns_.find(node);
    return found == delay_ns_.end() ? 0 : static_cast<std::uint64_t>(found->second);
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

 private:
  std::map<NodeId, std::int64_t> delay_ns_;
  std::map<NodeId, std::uint32_t> fail_next_;
  std::set<NodeId> cut_;
  double probability_ = 0;
  std::mt19937_64 random_;
};

}  // namespace slimgraph
