// SUNDIAL (Yu et al., VLDB 2018): logical leases. A version is valid from its write timestamp to
// the end of its lease. A transaction commits at a logical time at which all its reads are valid.
// That time is also after the leases of all versions that it overwrites. It renews the leases of
// its reads if needed, and locks its writes.
//
// One word of a tuple holds the whole lease: the number of lockers, the time of the version's
// write, and the lease's length. As the lock is in the same word, a CAS cannot renew the lease of a
// locked tuple. The atomic that locks is also the writer's last read of the lease. So no reader can
// extend a lease after the writer has read its end.
//
// A tuple that is written without having been read is locked and read by one round trip: a
// fetch-and-add enters the lockers, and the read follows it. Whoever finds no other locker holds
// the lock, and has read under it. Others leave the lockers again, and abort. Whoever reads first
// locks by a CAS that expects the word as it was read. Since others may come and leave at any time,
// a holder changes the word by adding the difference.
//
// guarded_read.h says why no read without a lock is torn. Here two words that differ only in the
// lease's end are the same version.
//
// Histories are serializable, in the order of logical time. That need not be the order of real
// time.
#pragma once

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn {

class Sundial : public Protocol {
 public:
  std::string_view name() const override { return "sundial"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override { return {.metadata_words = 1}; }
  bool MayOutlastMoment(bool /*writes*/) const override { return false; }
  bool LocksFree(const std::uint64_t* metadata) const override;
  std::optional<ReadStamp> StampOf(const std::uint64_t* metadata) const override;
  Timestamp FreeLocks(std::uint64_t* metadata) const override;
  void Inherit(const std::uint64_t* metadata, std::uint64_t* fresh) const override;
  void Post(Stage stage, Port& port, Access& access) const override;
  Step Check(Stage stage, Access& access) const override;
  void CancelWait(Access& access) const override;
  bool StartFetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;

 private:
  static Stage PlanFetch(const Transaction& transaction, std::span<Access* const> fresh);
};

}  // namespace slimgraph::txn
