// OCC: reads without locks, locks its writes at the end, then validates that its reads are
// unchanged (Kung and Robinson; the word is Silo's).
//
// One word of a tuple is both lock and sequence number. The high bits name the holder of the lock,
// and the low bits count how often the record was replaced. So the CAS that locks also validates
// that nothing has changed since the read.
//
// guarded_read.h says why no read is torn.
//
// Why the result is strictly serializable: after all locks are held and before any is released,
// each record read is found unchanged and unlocked. At the moment between locking and validation,
// all reads and writes hold. A transaction that only reads a single record validates nothing: the
// record was current at the moment of the read.
//
// When there is no tuple, its bucket's count of changes is read and validated instead. The count
// changes before a new tuple can be found, so any transaction that locks that tuple does so after
// the validation.
#pragma once

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn {

// With read timestamps, a transaction leaves its commit time in what it has read before it
// validates that. A later writer locks first, and then reads that time.
class Occ : public Protocol {
 public:
  explicit Occ(Timestamps timestamps = Timestamps::kNone) : timestamps_(timestamps) {}
  std::string_view name() const override { return "occ"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override;
  bool absence_suffices() const override { return true; }
  bool locks_in_body() const override { return false; }
  bool LocksFree(const std::uint64_t* metadata) const override;
  std::optional<ReadStamp> StampOf(const std::uint64_t* metadata) const override;
  Timestamp FreeLocks(std::uint64_t* metadata) const override;
  void Post(Stage stage, Port& port, Access& access) const override;
  Step Check(Stage stage, Access& access) const override;
  bool StartFetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;

 private:
  // Not inlined: the paths without times would save more registers.
  [[gnu::noinline]] void PostTimed(Stage stage, Port& port, Access& access) const;
  [[gnu::noinline]] Step CheckTimed(Stage stage, Access& access) const;
  static void PostMark(Port& port, Access& access);
  static bool HasMarked(Access& access);

  bool timed() const { return timestamps_ != Timestamps::kNone; }
  bool marks() const { return timestamps_ == Timestamps::kDst; }

  const Timestamps timestamps_;
};

}  // namespace slimgraph::txn
