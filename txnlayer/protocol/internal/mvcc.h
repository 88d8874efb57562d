// MVCC: timestamp ordering over four versions of each record. A transaction reads the youngest
// version that is not younger than itself, and raises the tuple's read timestamp to its own. It may
// only write if no younger transaction has read or written.
//
// The tuple's words are the lock (the holder's timestamp), the read timestamp, and a write
// timestamp for each of the four versions. A write timestamp of 0 means an empty version, and
// kBeingWritten one that is being replaced.
//
// Why reads hold without a lock. A reader first reads the words, and picks v, the youngest version
// that it may see. Then it reads v, raises the read timestamp at least to its own, and reads the
// lock and then the other words again, all in order. The reader takes v if v is still its version
// at the second read of the words and if no older writer holds the lock. (A remote reader reads the
// words with one doorbell, and does the rest with another.)
// - Not torn: v was complete before its write timestamp was stored, and so before the first read of
//   the words. A writer marks v kBeingWritten before it replaces it, and timestamps are unique. So
//   no writer had begun to replace v at the second read. (Words read by the same operation as v
//   would prove nothing: the words of one operation are read in any order.)
// - No older write comes later: a writer takes the lock by a CAS, then reads the read timestamp. A
//   reader sets the read timestamp, then reads the lock. The later of the two CASes sees the effect
//   of the other. So the writer aborts, or the reader finds the lock or the new version. (If the
//   lock is free again by then, the new version is there when the other words are read. If another
//   reader has raised the read timestamp, it counts only if that was before the lock was read.)
//
// A writer installs nothing before it holds all its locks and has found no younger reader or
// writer.
//
// Histories are serializable, in the order of timestamps. As the nodes' clocks differ, that need
// not be the order of real time.
//
// With read timestamps (stages/read_at.h), transactions that only read never abort. They mark what
// they read like all others, but wait for older writers. A writer keeps the version that it
// replaces, and links it from the tuple, before it marks that version kBeingWritten. A reader that
// finds only younger versions then reads the link. So the version that it wants is in the chain
// that begins there. No other can come in between: a writer must be younger than all versions.
#pragma once

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn {

class Mvcc : public Protocol {
 public:
  // `timestamps`: kDst or none.
  explicit Mvcc(Timestamps timestamps = Timestamps::kNone) : timestamps_(timestamps) {}
  std::string_view name() const override { return "mvcc"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override;
  ReplacedVersion Replaces(const Access& access) const override;
  std::size_t Latest(const std::uint64_t* metadata) const override;
  bool commits_at_timestamp() const override { return true; }
  bool locks_in_body() const override { return false; }
  bool MayOutlastMoment(bool writes) const override { return !writes; }
  bool LocksFree(const std::uint64_t* metadata) const override { return metadata[0] == 0; }
  // The latest version is the last to be replaced, and it is marked before it is replaced. Locks
  // are only held by commits.
  std::optional<ReadStamp> StampOf(const std::uint64_t* metadata) const override;
  Timestamp FreeLocks(std::uint64_t* metadata) const override;
  void Inherit(const std::uint64_t* metadata, std::uint64_t* fresh) const override;
  void Post(Stage stage, Port& port, Access& access) const override;
  Step Check(Stage stage, Access& access) const override;
  bool StartFetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;

 private:
  const Timestamps timestamps_;
};

}  // namespace slimgraph::txn
