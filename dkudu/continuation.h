// How counts are left by the compute nodes of a job and continued by others, when a job on a pool
// changes their number. A command makes one count after the other, always in the same order. Nodes
// that leave hand over the results of complete counts, and what they know of the count that they
// have left: its sum so far and what is left of it. The nodes that follow make the same calls: they
// get the results of complete counts at once, and continue the one that was left.
//
// A hundredth of a count is a step of Handover: the third count has the steps from 200 to 299.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/cluster/handover.h"

namespace slimgraph::dkudu {

class Continuation {
 public:
  using Words = std::vector<std::uint64_t>;

  // Takes what was handed over, if anything. Collective over all nodes.
  static Result<std::unique_ptr<Continuation>> Resume(Cluster& cluster, Handover& handover);

  // The result of the count that begins, if earlier compute nodes have completed it. Known to all
  // nodes.
  template <typename Sum>
  std::optional<Sum> Completed() {
    if (next_ == results_.size()) return std::nullopt;
    return FromSaved<Sum>(results_[next_++]);
  }
  // What is left of the count that begins, on compute nodes, in the words of its engine; empty: it
  // was not begun.
  const Words& rest() const { return rest_; }

  // On node 0, when `percent` of its part of the rest has begun: whether the compute nodes shall
  // leave the count. True only once. Called at any time, but only on the thread that called Resume(): the
  // processes of nodes that follow end with the thread that has started them.
  bool AsksToLeave(double percent);

  // Ends the count: `sum` is that of this node, and becomes that of all nodes, also of those that
  // have left. An error if the count is left now; then rest() returns what is left of it, on node 0.
  // All nodes call this, and rest(), together.
  template <typename Sum, typename Add, typename Rest>
  Status End(Sum& sum, const Add& add, const Rest& rest) {
    if (cluster_.self() == 0 && has_sum_) sum = add(FromSaved<Sum>(sum_), sum);
    SLIM_TRY(cluster_.all().AllReduce(std::span(&sum, 1), add));
    has_sum_ = false;
    SLIM_TRY(AgreeToLeave());
    if (has_left_) {
      SLIM_ASSIGN(const Words words, rest());
      return HandOver(Save(sum), words);
    }
    rest_.clear();
    begun_ = 0;
    results_.push_back(Save(sum));
    next_ = results_.size();
    return {};
  }

  // A count was left, and its caller got an error. The same on all nodes.
  bool has_left() const { return has_left_; }

 private:
  using Saved = std::array<std::uint64_t, 12>;  // a sum
  template <typename Sum>
  static Saved Save(const Sum& sum) {
    static_assert(sizeof(Sum) <= sizeof(Saved) && std::is_trivially_copyable_v<Sum>);
    Saved saved{};
    std::memcpy(saved.data(), &sum, sizeof sum);
    return saved;
  }
  template <typename Sum>
  static Sum FromSaved(const Saved& saved) {
    Sum sum;
    std::memcpy(static_cast<void*>(&sum), saved.data(), sizeof sum);
    return sum;
  }
  Continuation(Cluster& cluster, Handover& handover) : cluster_(cluster), handover_(handover) {}
  Status Read(const std::uint64_t* words);
  Status AgreeToLeave();
  Status HandOver(const Saved& sum, const Words& rest);

  Cluster& cluster_;
  Handover& handover_;
  std::vector<Saved> results_;  // of complete counts
  std::size_t next_ = 0;        // the number of the count that begins
  bool has_sum_ = false;        // on node 0: there is one of earlier compute nodes
  Saved sum_{};
  Words rest_;
  double begun_ = 0;  // percent of the count that begins, by earlier compute nodes
  std::uint64_t asked_ns_ = 0;
  bool asks_to_leave_ = false;
  bool has_left_ = false;
};

// The result of a count that earlier compute nodes have completed.
template <typename Sum>
std::optional<Sum> CompletedCount(Continuation* continuation) {
  return continuation == nullptr ? std::nullopt : continuation->Completed<Sum>();
}

// Ends a count: its sum over all nodes, on all nodes. `continuation` is null if it cannot be left.
template <typename Sum, typename Add, typename Rest>
Result<Sum> EndCount(Cluster& cluster, Continuation* continuation, Sum sum, const Add& add,
                     const Rest& rest) {
  if (continuation == nullptr) {
    SLIM_TRY(cluster.all().AllReduce(std::span(&sum, 1), add));
  } else {
    SLIM_TRY(continuation->End(sum, add, rest));
  }
  return sum;
}

}  // namespace slimgraph::dkudu
