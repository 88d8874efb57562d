// TO: timestamp ordering. Reads and writes of a record take place in the order of their
// transactions' timestamps; one that comes too late is aborted. A write is pending from when it is
// fetched until its transaction ends. Younger transactions that want the record wait until then.
// They only wait for older ones, so there are no deadlocks, and a transaction validates nothing
// when it commits.
//
// The tuple's words are the timestamp of the pending write (0: none), that of the youngest reader,
// and that of the last writer. There is room for one pending write. So a writer that finds one of a
// younger transaction is aborted; textbooks queue it before that one.
//
// Why reads hold without a lock. A reader reads the words, the record, and the words again. Then it
// raises the youngest reader's timestamp at least to its own by a CAS, and reads the words once
// more, all in order. It takes the record if the last writer was the same each time, and no older
// write was pending.
// - Not torn: a writer marks the record as being written before it changes it, and stores its
//   timestamp as the last writer's afterwards. If the reader has seen a changed word of the record,
//   it sees the mark or that timestamp later.
// - No older write comes later: a writer makes its write pending by a CAS, then reads the youngest
//   reader's timestamp. A reader raises that timestamp, then reads the pending write. The later of
//   the two CASes sees the effect of the other. So the writer aborts, or the reader waits for it.
// A pending write of a younger transaction does not concern a reader: it is older than that write.
//
// Histories are serializable, in the order of timestamps. As the nodes' clocks differ, that need
// not be the order of real time.
#pragma once

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn {

class TimestampOrder : public Protocol {
 public:
  std::string_view name() const override { return "to"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override;
  bool holds_up_others() const override { return true; }
  bool MayOutlastMoment(bool writes) const override { return !writes; }
  bool LocksFree(const std::uint64_t* metadata) const override { return metadata[0] == 0; }
  std::optional<ReadStamp> StampOf(const std::uint64_t* metadata) const override;
  Timestamp FreeLocks(std::uint64_t* metadata) const override;
  void Inherit(const std::uint64_t* metadata, std::uint64_t* fresh) const override;
  void Post(Stage stage, Port& port, Access& access) const override;
  Step Check(Stage stage, Access& access) const override;
  bool StartFetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Acquire(Transaction& transaction) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;
};

}  // namespace slimgraph::txn
