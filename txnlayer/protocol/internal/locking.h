// NOWAIT, WAITDIE and BOUNDEDWAIT: two-phase locking with one lock per tuple. The lock word names
// one holder, or counts shared readers (lock_word.h). The protocols differ in what a transaction
// does when the lock is taken. A reader that then writes the tuple upgrades its lock before the
// commit, if it is the only reader. Otherwise the transaction retries without shared locks.
//
// All locks are held until the transaction's end, so the order in which transactions hold them is a
// serial one and agrees with real time. A record is only read and written under its lock. The read
// follows the CAS in the same doorbell or in a later one. The unlocking write follows the update by
// the same way. So no read is torn.
//
// Below serializability, nothing protects the absence of a key that a transaction has read. Under
// read-committed, a transaction locks only what it writes: other records are read between two looks
// at the lock word (guarded_read.h). A tuple that is written after it was read is locked and read
// again.
#pragma once

#include "txnlayer/internal/stages/protocol.h"
#include "txnlayer/protocol/internal/times.h"

namespace slimgraph::txn {

class Locking : public Protocol {
 public:
  explicit Locking(Isolation isolation = Isolation::kSerializable,
                   Timestamps timestamps = Timestamps::kNone)
      : isolation_(isolation), timestamps_(timestamps) {}
  Isolation isolation() const override { return isolation_; }
  bool absence_suffices() const override { return isolation_ != Isolation::kSerializable; }
  std::span<const Stage> stages() const override;
  // When both stages have the same form, the Lock stage also reads the record.
  bool Takes(Stage stage, const StageCode& code) const override {
    return stage != Stage::kRead || reads_unlocked() ||
           code.one_sided(Stage::kRead) != code.one_sided(Stage::kLock);
  }
  bool StartFetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;
  void Post(Stage stage, Port& port, Access& access) const override;
  Step Check(Stage stage, Access& access) const override;
  // A holder that writes the record also changes the version's word before it unlocks. So the
  // ReadStamp needs no mark.
  std::optional<ReadStamp> StampOf(const std::uint64_t* metadata) const override;
  Timestamp FreeLocks(std::uint64_t* metadata) const override;

 protected:
  static constexpr std::uint64_t kLockAt = 0;
  bool timed() const { return timestamps_ != Timestamps::kNone; }
  TupleShape ShapeWith(std::uint32_t words) const { return times::ShapeOf(words, timestamps_); }
  // At home, by the processor: sets `access.old_word` to 0, or to the word that is in the way.
  static void LockShared(Access& access);
  // Whether a reader upgrades its lock.
  static bool Upgrades(const Access& access) { return access.locked && access.shared; }
  static Step CheckUpgrade(Access& access, AbortReason otherwise);
  // Notes the holder's timestamp, so that the clock of this transaction's thread moves past it.
  static void NoteHolder(Access& access);
  // Whether the stage that locks a tuple also reads its record.
  static bool LockReadsRecord(const Transaction& transaction);
  static void PostRead(Port& port, Access& access);
  static void PostMark(Port& port, Access& access);
  static Step CheckRead(Access& access);

  // Locks the tuples and reads their records.
  virtual bool FetchLocked(Transaction& transaction, std::span<Access* const> fresh) const;
  virtual void PostLock(Port& port, Access& access) const = 0;
  virtual Step CheckLock(Access& access) const = 0;
  // A read without a lock has met a writer's lock word, access.old_word.
  virtual Step MeetWriter(Access& access) const = 0;

 private:
  bool reads_unlocked() const { return isolation_ == Isolation::kReadCommitted; }
  Step CheckUnlockedRead(Access& access) const;

  const Isolation isolation_;
  const Timestamps timestamps_;
};

class NoWait : public Locking {
 public:
  using Locking::Locking;
  std::string_view name() const override { return "nowait"; }
  TupleShape shape() const override { return ShapeWith(1); }
  bool LocksFree(const std::uint64_t* metadata) const override { return metadata[0] == 0; }

 protected:
  void PostLock(Port& port, Access& access) const override;
  Step CheckLock(Access& access) const override;
  Step MeetWriter(Access&) const override { return Step::Busy(); }
};

// A transaction may wait for a lock. The second word of a tuple counts the waiting transactions;
// readers do not join others while it is not 0, so that they cannot starve a writer. Requests by
// messages wait at the tuple's home in the order of timestamps. A transaction that was aborted
// keeps its timestamp.
class Waiting : public Locking {
 public:
  using Locking::Locking;
  TupleShape shape() const override { return ShapeWith(2); }
  bool LocksFree(const std::uint64_t* metadata) const override {
    return metadata[0] == 0 && metadata[1] == 0;
  }
  bool keeps_timestamp() const override { return true; }
  bool holds_up_others() const override { return true; }
  void CancelWait(Access& access) const override;

 protected:
  void PostLock(Port& port, Access& access) const override;
  Step CheckLock(Access& access) const override;
  Step MeetWriter(Access& access) const override;

  // Whether the transaction waits, or goes on waiting. access.old_word: the word of the holder, or
  // kSomebodyWaits.
  virtual bool Waits(Access& access) const = 0;
  // Why it is aborted if it does not.
  virtual AbortReason refusal() const = 0;
  // Whether a transaction that got the lock at once leaves it to those that wait.
  virtual bool GivesWay() const = 0;

 private:
  static void PostTry(Port& port, Access& access);
};

// An older transaction waits for a younger holder, and a younger one dies. So there are no
// deadlocks, and a transaction becomes the oldest in time. Newcomers give way, so that they cannot
// starve an old transaction.
class WaitDie : public Waiting {
 public:
  using Waiting::Waiting;
  std::string_view name() const override { return "waitdie"; }

 protected:
  bool Waits(Access& access) const override;
  AbortReason refusal() const override { return AbortReason::kDied; }
  bool GivesWay() const override { return true; }
};

// Each transaction waits, but for a limited time, which ends deadlocks. To have few of them, a
// transaction takes the locks of one Fetch in the order of tables and keys: it tries all at once,
// releases those behind the first that is taken, and waits for that one. So there are deadlocks
// only between transactions that fetch several times.
class BoundedWait : public Waiting {
 public:
  BoundedWait(Isolation isolation, Timestamps timestamps, std::uint64_t most_ns)
      : Waiting(isolation, timestamps), most_ns_(most_ns) {}
  std::string_view name() const override { return "boundedwait"; }
  bool StartFetch(Transaction& transaction, std::span<Access* const> fresh) const override;

 protected:
  bool Waits(Access& access) const override;
  AbortReason refusal() const override { return AbortReason::kTimedOut; }
  bool GivesWay() const override { return false; }
  bool FetchLocked(Transaction& transaction, std::span<Access* const> fresh) const override;

 private:
  const std::uint64_t most_ns_;
};

}  // namespace slimgraph::txn
