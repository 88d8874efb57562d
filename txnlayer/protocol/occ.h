// OCC: reads without locks, locks what it writes at the end, then looks whether what it read is
// still as it was (Kung and Robinson; the word is Silo's).
//
// One word of a tuple is both lock and sequence: who holds the lock above, how often the record was
// replaced below. So the compare-and-swap that locks also finds that nothing changed since the
// read.
//
// Why no read is torn: the word is read, then the record, then the word again, three operations in
// order. A writer changes the record only between its compare-and-swap, which sets the owner, and
// the write that clears the owner and counts on, in one word; both are ordered with the update. If
// any word of the record was written between our first and our second look, the writer had not yet
// locked at the first, or it would have been seen, and at the second it still holds the lock or has
// counted on: the two looks differ. (Two reads, the second of the word alone, would not do: the
// words of one operation are read in any order, and so the first look could come after the record.)
//
// Why the result is strictly serializable: after all locks are held and before any is released,
// each record read is found unchanged and unlocked. At the moment between, all reads and writes
// hold.
#pragma once

#include "txnlayer/protocol/protocol.h"

namespace slimgraph::txn {

class Occ : public Protocol {
 public:
  std::string_view name() const override { return "occ"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override { return {.metadata_words = 1}; }
  bool Idle(const std::uint64_t* metadata) const override;
  Timestamp Free(std::uint64_t* metadata) const override;
  void Post(Stage stage, Port& port, Access& access) const override;
  Step Check(Stage stage, Access& access) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;
};

}  // namespace slimgraph::txn
