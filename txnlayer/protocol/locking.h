// NOWAIT and WAITDIE: two-phase locking with one lock per tuple, whose word is the timestamp of the
// holder, or tells of readers that hold it together (lock_word.h). They differ in what happens when
// the lock is taken. Who reads a tuple and then writes it too becomes its writer in the end, if
// nobody else reads it; if somebody does, it is tried again without sharing anything.
//
// All locks are held until the transaction's end, so the order in which transactions hold them is
// both a serial one and that of real time. A record is only read and written under its lock: the
// read comes after the compare-and-swap in the same doorbell, or in a later one, and the unlocking
// write after the update's, on the same way. So no read is torn.
#pragma once

#include "txnlayer/protocol/protocol.h"

namespace slimgraph::txn {

class Locking : public Protocol {
 public:
  std::span<const Stage> stages() const override;
  // Where both have the same form, the lock brings the record.
  bool Takes(Stage stage, const StageCode& code) const override {
    return stage != Stage::kRead || code.one_sided(Stage::kRead) != code.one_sided(Stage::kLock);
  }
  bool Ask(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;
  void Post(Stage stage, Port& port, Access& access) const override;
  Step Check(Stage stage, Access& access) const override;
  // Whoever held the lock between two looks that find it free, and wrote, has written another word
  // of the version before it let go.
  std::optional<Look> LookAt(const std::uint64_t* metadata) const override;
  Timestamp Free(std::uint64_t* metadata) const override;

 protected:
  static constexpr std::uint64_t kLockAt = 0;
  // By the processor, at home: `access.old_word` is then 0, or what is in the way.
  static void LockTogether(Access& access);
  // That of a reader which also writes.
  static bool Upgrades(const Access& access) { return access.locked && access.shared; }
  static Step CheckUpgrade(Access& access, AbortReason otherwise);
  // Whether the stage that locks a tuple also brings its record.
  static bool LocksBring(const Transaction& transaction);
  static void PostRead(Port& port, Access& access);
  static Step CheckRead(const Access& access);

  virtual void PostLock(Port& port, Access& access) const = 0;
  virtual Step CheckLock(Access& access) const = 0;
};

class NoWait : public Locking {
 public:
  std::string_view name() const override { return "nowait"; }
  TupleShape shape() const override { return {.metadata_words = 1}; }
  bool Idle(const std::uint64_t* metadata) const override { return metadata[0] == 0; }

 protected:
  void PostLock(Port& port, Access& access) const override;
  Step CheckLock(Access& access) const override;
};

// An older transaction waits for a younger holder, a younger one dies; those that die keep their
// timestamp, and so grow old. The second word of a tuple counts those that wait: whoever gets the
// lock without having waited gives it back while somebody does, so that newcomers cannot keep an
// old transaction from it. Readers do not even join others then.
class WaitDie : public Locking {
 public:
  std::string_view name() const override { return "waitdie"; }
  TupleShape shape() const override { return {.metadata_words = 2}; }
  bool Idle(const std::uint64_t* metadata) const override {
    return metadata[0] == 0 && metadata[1] == 0;
  }
  bool keeps_timestamp() const override { return true; }
  void GiveUp(Access& access) const override;

 protected:
  void PostLock(Port& port, Access& access) const override;
  Step CheckLock(Access& access) const override;

 private:
  static void PostTry(Port& port, Access& access);
};

}  // namespace slimgraph::txn
