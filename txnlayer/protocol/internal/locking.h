// NOWAIT and WAITDIE: two-phase locking with one lock per tuple. The lock word names one holder, or
// counts shared readers (lock_word.h). The two protocols differ in what a transaction does when the
// lock is taken. A reader that then writes the tuple upgrades its lock before the commit, if it is
// the only reader. Otherwise the transaction retries without shared locks.
//
// All locks are held until the transaction's end, so the order in which transactions hold them is a
// serial one and agrees with real time. A record is only read and written under its lock. The read
// follows the CAS in the same doorbell or in a later one. The unlocking write follows the update by
// the same way. So no read is torn.
#pragma once

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn {

class Locking : public Protocol {
 public:
  std::span<const Stage> stages() const override;
  // When both stages have the same form, the Lock stage also reads the record.
  bool Takes(Stage stage, const StageCode& code) const override {
    return stage != Stage::kRead || code.one_sided(Stage::kRead) != code.one_sided(Stage::kLock);
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
  static Step CheckRead(const Access& access);

  virtual void PostLock(Port& port, Access& access) const = 0;
  virtual Step CheckLock(Access& access) const = 0;
};

class NoWait : public Locking {
 public:
  std::string_view name() const override { return "nowait"; }
  TupleShape shape() const override { return {.metadata_words = 1}; }
  bool LocksFree(const std::uint64_t* metadata) const override { return metadata[0] == 0; }

 protected:
  void PostLock(Port& port, Access& access) const override;
  Step CheckLock(Access& access) const override;
};

// An older transaction waits for a younger holder, and a younger one dies. A transaction that dies
// keeps its timestamp, and so becomes the oldest in time. The second word of a tuple counts the
// waiting transactions. A transaction that gets the lock without having waited gives it back if the
// count is not 0, so that newcomers cannot starve an old transaction. For the same reason readers
// do not join others then.
class WaitDie : public Locking {
 public:
  std::string_view name() const override { return "waitdie"; }
  TupleShape shape() const override { return {.metadata_words = 2}; }
  bool LocksFree(const std::uint64_t* metadata) const override {
    return metadata[0] == 0 && metadata[1] == 0;
  }
  bool keeps_timestamp() const override { return true; }
  void CancelWait(Access& access) const override;

 protected:
  void PostLock(Port& port, Access& access) const override;
  Step CheckLock(Access& access) const override;

 private:
  static void PostTry(Port& port, Access& access);
};

}  // namespace slimgraph::txn
