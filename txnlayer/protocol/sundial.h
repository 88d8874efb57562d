// SUNDIAL (Yu et al., VLDB 2018): logical leases. A version is valid from its write timestamp to
// the end of its lease; a transaction commits at a logical time at which all that it read is valid
// and which is later than the lease of all that it overwrites. What it reads it renews when need
// be; what it writes it locks.
//
// One word of a tuple is the whole lease: a lock bit, when the version was written, and how far
// beyond that it may be read. As lock and lease are one word, a lease cannot be renewed by a
// compare-and-swap once the tuple is locked, and the writer's last look at it is its own
// compare-and-swap: no reader can extend what the writer believes to have ended.
//
// guarded_read.h says why no read is torn; here a word that differs only in the lease's end is the
// same version.
//
// Histories are serializable, in the order of logical time. That need not be the order of real
// time.
#pragma once

#include "txnlayer/protocol/protocol.h"

namespace slimgraph::txn {

class Sundial : public Protocol {
 public:
  std::string_view name() const override { return "sundial"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override { return {.metadata_words = 1}; }
  bool Idle(const std::uint64_t* metadata) const override;
  std::optional<Look> LookAt(const std::uint64_t* metadata) const override;
  Timestamp Free(std::uint64_t* metadata) const override;
  void Inherit(const std::uint64_t* metadata, std::uint64_t* fresh) const override;
  void Post(Stage stage, Port& port, Access& access) const override;
  Step Check(Stage stage, Access& access) const override;
  bool Ask(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;
};

}  // namespace slimgraph::txn
