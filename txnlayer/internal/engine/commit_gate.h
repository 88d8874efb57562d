// The gate through which commits pass, and moments at which no commit is under way anywhere. Bodies
// of transactions go on during such a moment, and others begin; only commits wait.
//
// A commit enters before it validates what it has read, and leaves when it has sent all its writes.
// It holds locks until they have arrived, so whoever reads its tuples afterwards waits for it. When
// the gate is closed, a thread lets no commit enter. It has *settled* when all that had entered
// have left. The moment is when all threads of all nodes have settled. Then the gate is opened
// again.
//
// Under some protocols a moment aborts the transactions that are under way. Those that this has met
// more than once are sheltered: the next moment waits until they have ended, but not longer than
// each of them has asked for. Otherwise a long transaction would never commit beside snapshots that
// follow each other closely.
//
// A thread notes closing and opening in its own turn. So its coroutines enter and leave without any
// synchronisation.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "slimgraph/fabric/fabric.h"
#include "txnlayer/internal/execution/timestamp.h"
#include "txnlayer/internal/execution/worker.h"

namespace slimgraph::txn {

class CommitGate {
 public:
  CommitGate(Fabric& fabric, std::uint32_t threads) : fabric_(fabric), threads_(threads) {}

  // --- called by a thread of the engine
  // In every turn of its loop. Returns whether the thread has just settled.
  bool Turn(Worker& worker, TimestampSource& clock);
  bool closed(std::uint32_t thread) const {
    return threads_[thread].closed != threads_[thread].opened;
  }
  void Enter(std::uint32_t thread) { ++threads_[thread].inside; }
  void Leave(std::uint32_t thread) { --threads_[thread].inside; }
  // The number of the last moment. A transaction that finds another number than at its begin has
  // begun before a moment, or during one.
  std::uint32_t moment(std::uint32_t thread) const { return threads_[thread].opened; }
  // Shelter() begins a transaction's shelter, which lasts until that time at most; Unshelter() ends
  // it, and returns whether the thread has no other transaction that is sheltered.
  void Shelter(std::uint32_t thread, std::uint64_t until_ns);
  bool Unshelter(std::uint32_t thread);

  // --- for one thread outside of the engine at a time
  // Until when the next moment is to wait; 0: no transaction is sheltered.
  std::uint64_t sheltered_until_ns() const;
  void Close();
  bool settled() const;
  // The largest timestamp of all threads, when they had settled.
  Timestamp latest() const;
  // Transactions that begin from now on have timestamps above `latest`.
  void Open(Timestamp latest);

 private:
  struct alignas(64) Thread {
    std::uint32_t closed = 0;  // the numbers of the last closing and opening that it has noted
    std::uint32_t opened = 0;
    std::uint32_t inside = 0;     // commits under way
    std::uint32_t sheltered = 0;  // transactions
    std::atomic<std::uint64_t> sheltered_until_ns = 0;
    Timestamp latest = 0;                    // when it settled
    std::atomic<std::uint32_t> settled = 0;  // for which closing
  };
  void WakeAll();

  Fabric& fabric_;
  std::atomic<std::uint32_t> closed_ = 0;
  std::atomic<std::uint32_t> opened_ = 0;
  std::atomic<Timestamp> latest_ = 0;  // at the last opening
  std::vector<Thread> threads_;
};

}  // namespace slimgraph::txn
