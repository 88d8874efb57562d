// The lock table of strict two-phase locking, after Gray and Reuter: for each lock, the
// transactions that hold it, and a queue of requests, first come, first served; for each
// transaction, its locks, so that one message releases all of them.
//
// A request is granted if its mode is compatible with those of all holders and nobody waits before
// it. What happens otherwise is the table's WhenTaken:
// - kNoWait: it is refused.
// - kWaitDie: it waits if its transaction is older than all holders, and is refused otherwise. The
//   queue is by age instead, the youngest first. So transactions only wait for younger ones, and
//   there are no deadlocks.
// - kBoundedWait: it waits for a limited time. That ends deadlocks.
//
// A request for a lock that the transaction holds converts it to the union of both modes. It waits
// at the head of the queue, as nobody behind it could be granted before.
#pragma once

#include <deque>
#include <unordered_map>

#include "txnlayer/locks/lock_manager.h"

namespace slimgraph::txn {

enum class WhenTaken : std::uint8_t { kNoWait, kWaitDie, kBoundedWait };

class LockTable : public LockManager {
 public:
  explicit LockTable(WhenTaken when_taken, std::uint64_t most_wait_ns = 0)
      : when_taken_(when_taken), most_wait_ns_(most_wait_ns) {}

  LockAnswer Request(const LockRequest& request, std::uint64_t now_ns) override;
  void End(TransactionNumber transaction, bool commits, std::uint64_t now_ns,
           std::vector<LateAnswer>& answers) override;
  void Expire(std::uint64_t now_ns, std::vector<LateAnswer>& answers) override;
  std::optional<std::uint64_t> next_expiry_ns() override;
  bool idle() const override { return locks_.empty() && transactions_.empty(); }

  // The mode in which the transaction holds the lock.
  LockMode HeldBy(TransactionNumber transaction, LockId lock) const;

 private:
  struct Holder {
    TransactionNumber transaction;
    LockMode mode;
  };
  struct Waiting {
    TransactionNumber transaction;
    LockMode mode;  // of a conversion, the union
    bool converts;
  };
  struct Lock {
    std::uint32_t granted[kLockModes] = {};  // how many holders have each mode
    std::vector<Holder> holders;
    std::vector<Waiting> queue;
  };
  struct Entry {
    std::vector<LockId> held;
    LockId waits_for = 0;
    bool waits = false;
    std::uint64_t since = 0;  // the number of its wait
  };
  struct Deadline {
    std::uint64_t at_ns;
    TransactionNumber transaction;
    std::uint64_t wait;
  };

  static Holder* Find(Lock& lock, TransactionNumber transaction);
  // Whether the holders other than one with mode `own` permit the mode.
  static bool Permits(const Lock& lock, LockMode mode, LockMode own);
  static void Grant(Lock& lock, TransactionNumber transaction, LockMode mode, Holder* held);
  bool MayWait(const Lock& lock, TransactionNumber transaction) const;
  std::size_t PlaceInQueue(const Lock& lock, const Waiting& waiting) const;
  void GrantWaiting(LockId id, std::vector<LateAnswer>& answers);
  void Withdraw(TransactionNumber transaction, Entry& entry, std::vector<LateAnswer>& answers);
  void DropStaleDeadlines();

  const WhenTaken when_taken_;
  const std::uint64_t most_wait_ns_;
  std::unordered_map<LockId, Lock> locks_;  // those that are held or wanted
  std::unordered_map<TransactionNumber, Entry> transactions_;
  std::deque<Deadline> deadlines_;  // all waits are equally long, so they are in order
  std::uint64_t waits_ = 0;
};

}  // namespace slimgraph::txn
