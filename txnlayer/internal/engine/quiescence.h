// Brings all coroutines of all threads on all nodes to rest, with nothing under way, and lets them
// continue.
//
// A run consists of rounds. A round ends when all threads of all living nodes rest, for one or more
// of the reasons below or for the end of the run. The work for which they rest is done between two
// rounds, when nothing runs anywhere.
//
// Each reason has two counts: how often it was requested, and how often it was done. A thread that
// notes a new request lets no transaction begin. When all its coroutines have ended or parked, the
// thread reports the requests that it has noted to node 0. Node 0 stops the round when all threads
// have noted the same requests as node 0 itself. So no node stops for a request that another has
// not noted.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/fabric.h"
#include "txnlayer/internal/execution/worker.h"

namespace slimgraph::txn {

class Quiescence {
 public:
  enum Reason : std::uint8_t {
    kDeath,         // each node hears of deaths from the control plane
    kSweep,         // any node asks node 0, which tells all
    kStopTheWorld,  // node 0 requests it, and tells all
  };
  static constexpr std::size_t kReasons = 3;

  Quiescence(Fabric& fabric, std::uint32_t threads);

  // Begins the next round, when nothing runs on this node.
  void BeginRound();
  std::uint32_t round() const { return round_; }

  // --- requests to rest. From any thread.
  void NoteDeath(NodeId node);
  // On node 0: requests the `number`th rest for that reason.
  void RequestOnNode0(Reason reason, std::uint32_t number);
  // From any node: asks node 0 for the next rest for that reason.
  void RequestViaNode0(Reason reason, Endpoint& endpoint);
  // On all nodes, after BeginRound() and before a run: drops stops of the world that were still
  // wanted when the last run ended, also those of which this node has not heard yet.
  void WithdrawStops();
  std::uint32_t wanted(Reason reason) const {
    return wanted_[reason].load(std::memory_order_acquire);
  }
  // How often the work for that reason has been done.
  std::uint32_t done(Reason reason) const { return done_[reason]; }
  // Whether a rest is requested and its work is not done yet.
  bool pending(Reason reason) const { return wanted(reason) != done_[reason]; }

  // --- called by a thread of the round
  // In every turn of its loop: notes new requests. Returns whether deaths are among them.
  bool NoteRequests(Worker& worker);
  // Whether no transaction of this thread may begin. A death blocks at once. Other requests block
  // from when the thread has noted them, and so reports them.
  bool BlocksBegin(std::uint32_t thread) const {
    const Counts& noted = threads_[thread].noted;
    return pending(kDeath) || noted[kSweep] != done_[kSweep] ||
           noted[kStopTheWorld] != done_[kStopTheWorld];
  }
  // Reports to node 0 that all coroutines of the thread have ended or parked.
  void ReportAtRest(Worker& worker);
  // Describes, for people, what a resting thread waits for.
  std::string DescribeWait(const Worker& worker) const;
  // Set when all threads rest.
  const bool& stop(std::uint32_t thread) const { return threads_[thread].stop; }
  // Waits until all requests that this node has sent are handled, also those that nobody awaits.
  void AwaitSentRequests(Task& task);

  // --- between two rounds
  // Whether the round has ended for that reason.
  bool due(Reason reason) const { return at_stop_[reason] != done_[reason]; }
  // The number of the request for which the round ended.
  std::uint32_t number(Reason reason) const { return at_stop_[reason]; }
  // Whether there was another request since the round ended.
  bool wanted_again(Reason reason) const { return wanted(reason) != at_stop_[reason]; }
  void MarkDone(Reason reason) { done_[reason] = at_stop_[reason].load(); }
  // The nodes whose deaths are due.
  std::vector<NodeId> newly_dead() const;
  // The nodes whose deaths have been repaired.
  std::vector<NodeId> dead() const;

 private:
  using Counts = std::array<std::uint32_t, kReasons>;
  using SharedCounts = std::array<std::atomic<std::uint32_t>, kReasons>;
  // What a thread reports when it rests, and what node 0 sends to all when all rest.
  struct Report {
    std::uint32_t round = 0;
    Counts counts{};
  };
  struct Thread {
    Counts noted{};
    bool stop = false;
  };
  void AnnounceRequests(Worker& worker);
  void StopIfAllRest(Endpoint& endpoint);
  std::vector<NodeId> DeadBetween(std::uint32_t begin, std::uint32_t end) const;

  Fabric& fabric_;
  std::uint32_t round_ = 0;
  std::uint32_t first_round_ = 0;  // of this run
  SharedCounts wanted_{};
  SharedCounts at_stop_{};
  SharedCounts done_{};
  std::vector<Thread> threads_;
  Counts announced_{};           // node 0: the requests that its first thread has announced
  std::vector<Report> at_rest_;  // node 0: the last report of each thread of all nodes
  mutable Mutex dead_mutex_;
  std::vector<NodeId> dead_;  // in the order in which this node heard of the deaths
  std::vector<HandlerRegistration> handlers_;
};

}  // namespace slimgraph::txn
