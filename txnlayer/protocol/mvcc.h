// MVCC: timestamp order over four versions of each record. A transaction reads the youngest version
// that is not younger than itself, and leaves its timestamp as a mark; it may only write where no
// younger transaction has read or written.
//
// A tuple's words are the lock (the holder's timestamp), the read timestamp, and the write
// timestamp of each of the four versions; 0 is an empty one, kBeingWritten one that is being
// replaced.
//
// Why reads hold without a lock. A reader looks at the words, then reads the version v that is the
// youngest that is old enough, then brings the read timestamp to its own at least, then looks at
// the words again; all in order. It takes v when the second look finds it to be that still, and
// finds no lock of an older writer. (From afar the first look is a doorbell, and the rest another.)
//  - Not torn: version v was complete before its write timestamp was stored, hence before the first
//    look; a writer that replaces it marks it kBeingWritten before it touches it, and no timestamp
//    comes twice, so at the second look nobody had begun. (A look that is part of the same
//    operation as the version would prove nothing: the words of one operation are read in any
//    order.)
//  - Nothing older comes later: a writer takes the lock by compare-and-swap, then reads the read
//    timestamp; a reader sets the read timestamp, then reads the lock. Whichever compare-and-swap
//    comes second sees the other's: the writer aborts, or the reader meets the lock, or the new
//    version.
// A writer installs nothing before it holds all its locks and has found no younger reader or
// writer.
//
// Histories are serializable, in the order of timestamps. As clocks of nodes differ, that need not
// be the order of real time.
#pragma once

#include "txnlayer/protocol/protocol.h"

namespace slimgraph::txn {

class Mvcc : public Protocol {
 public:
  std::string_view name() const override { return "mvcc"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override;
  std::size_t Latest(const std::uint64_t* metadata) const override;
  bool Idle(const std::uint64_t* metadata) const override { return metadata[0] == 0; }
  // The last version is the last to be replaced, and marked before it is.
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

 private:
  Step CheckRead(Access& access) const;
  Step CheckLock(Access& access) const;
};

}  // namespace slimgraph::txn
