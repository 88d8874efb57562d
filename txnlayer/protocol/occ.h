// OCC: reads without locks, locks what it writes at the end, then looks whether what it read is
// still as it was (Kung and Robinson; the word is Silo's).
//
// One word of a tuple is both lock and sequence: who holds the lock above, how often the record was
// replaced below. So the compare-and-swap that locks also finds that nothing changed since the
// read.
//
// guarded_read.h says why no read is torn.
//
// Why the result is strictly serializable: after all locks are held and before any is released,
// each record read is found unchanged and unlocked. At the moment between, all reads and writes
// hold.
//
// Where there is no tuple, the count of its bucket's changes is read and validated in its place. It
// changes before a tuple can be found, so whoever locks that tuple does so after the validation.
#pragma once

#include "txnlayer/protocol/protocol.h"

namespace slimgraph::txn {

class Occ : public Protocol {
 public:
  std::string_view name() const override { return "occ"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override { return {.metadata_words = 1}; }
  bool looks_again() const override { return true; }
  bool Idle(const std::uint64_t* metadata) const override;
  std::optional<Look> LookAt(const std::uint64_t* metadata) const override;
  Timestamp Free(std::uint64_t* metadata) const override;
  void Post(Stage stage, Port& port, Access& access) const override;
  Step Check(Stage stage, Access& access) const override;
  bool Ask(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;
};

}  // namespace slimgraph::txn
