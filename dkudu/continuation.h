// How a count is stopped and continued: by other compute nodes, when a job on a pool changes their
// number, or after one has died. A command makes one count after the other, always in the same
// order. When nodes stop, node 0 keeps the results of complete counts, the sum so far of the one
// that was stopped, and what is left of it. Nodes that follow make the same calls: they get the
// results of complete counts at once, and continue the one that was stopped. If the job survives
// deaths, its nodes also stop now and then for an instant, and go on by themselves.
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
  enum class Stop : std::uint64_t { kNo, kKeep, kLeave };

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
  // What is left of the count, on compute nodes, in the words of its engine; empty: it was not
  // begun.
  const Words& rest() const { return rest_; }

  // How much of the count has begun, when `percent` of the rest has.
  double Begun(double percent) const { return begun_ + (100 - begun_) * percent / 100; }

  // On node 0, when `percent` of its part of the rest has begun: whether all engines shall stop.
  // True only once in a count. Called at any time, but only on the thread that called Resume(): the
  // processes of nodes that follow end with the thread that has started them.
  bool AsksToStop(double percent);
  // Then: whether they stop for others to continue.
  bool leaves() const { return stop_ == Stop::kLeave; }

  // Ends the count, or stops it. `sum` is what this node has counted since the last stop; returns
  // the sum over all nodes and earlier stops. Nothing: the count was stopped, and these nodes shall
  // continue with the rest(). An error if others shall. After a stop, rest() returns what is left,
  // on node 0. All nodes call this, and rest(), together.
  template <typename Sum, typename Add, typename Rest>
  Result<std::optional<Sum>> End(Sum sum, const Add& add, const Rest& rest) {
    if (cluster_.self() == 0 && has_sum_) sum = add(FromSaved<Sum>(sum_), sum);
    SLIM_TRY(cluster_.all().AllReduce(std::span(&sum, 1), add));
    has_sum_ = false;
    SLIM_TRY(Agree());
    if (stop_ != Stop::kNo) {
      SLIM_ASSIGN(const Words words, rest());
      SLIM_TRY(StopWith(Save(sum), words));
      return std::nullopt;
    }
    rest_.clear();
    begun_ = 0;
    results_.push_back(Save(sum));
    next_ = results_.size();
    return sum;
  }

  // A count was stopped for others to continue, and its caller got an error. The same on all nodes.
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
  Status Take();
  Status Read(const std::uint64_t* words);
  Status Agree();
  Status StopWith(const Saved& sum, const Words& rest);

  Cluster& cluster_;
  Handover& handover_;
  std::vector<Saved> results_;  // of complete counts
  std::size_t next_ = 0;        // the number of the count that begins
  bool has_sum_ = false;        // on node 0: there is one of earlier compute nodes
  Saved sum_{};
  Words rest_;
  double begun_ = 0;  // percent of the count that begins, by earlier compute nodes
  Stop stop_ = Stop::kNo;
  bool has_left_ = false;
  std::uint64_t asked_ns_ = 0;
  // When the state is kept next, and when the engines have stopped for that.
  std::uint64_t keep_ns_ = 0;
  std::uint64_t stopped_ns_ = 0;
};

// The result of a count that earlier compute nodes have completed.
template <typename Sum>
std::optional<Sum> CompletedCount(Continuation* continuation) {
  return continuation == nullptr ? std::nullopt : continuation->Completed<Sum>();
}

// As Continuation::End. `continuation` is null if the count cannot be stopped.
template <typename Sum, typename Add, typename Rest>
Result<std::optional<Sum>> EndCount(Cluster& cluster, Continuation* continuation, Sum sum,
                                    const Add& add, const Rest& rest) {
  if (continuation != nullptr) return continuation->End(sum, add, rest);
  SLIM_TRY(cluster.all().AllReduce(std::span(&sum, 1), add));
  return sum;
}

}  // namespace slimgraph::dkudu
