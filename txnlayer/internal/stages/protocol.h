// The interface of a concurrency-control protocol: the shape of its tuples, its stages, and the
// course of a transaction through them. Each stage is written once, as ordered operations on a
// tuple and a check of their results. The two forms of a stage take the same steps. One-sided, the
// coordinator takes them over the fabric. Two-sided, the home takes them on its own memory.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "txnlayer/internal/stages/access.h"
#include "txnlayer/internal/stages/companion.h"
#include "txnlayer/internal/stages/port.h"
#include "txnlayer/internal/stages/stages.h"
#include "txnlayer/internal/store/tuple_view.h"

namespace slimgraph::txn {

class Engine;
class Transaction;

// The result of a check.
struct Step {
  enum Kind : std::uint8_t {
    kDone,
    kMore,  // the stage has a further step (access.step)
    kBusy,  // another transaction blocks it briefly: retry, but a limited number of times
    kWait,  // the same, but retry until it is gone
    kAbort,
  };
  Kind kind = kDone;
  AbortReason reason = AbortReason::kNone;

  static Step Done() { return {}; }
  static Step More() { return {kMore, AbortReason::kNone}; }
  static Step Busy() { return {kBusy, AbortReason::kLocked}; }
  static Step Wait() { return {kWait, AbortReason::kNone}; }
  static Step Abort(AbortReason reason) { return {kAbort, reason}; }
};

// How much transactions may see of each other (protocol/make_protocol.h).
enum class Isolation : std::uint8_t { kSerializable, kRepeatableRead, kReadCommitted };

class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual std::string_view name() const = 0;
  // In the order of the digits of a stage code.
  virtual std::span<const Stage> stages() const = 0;
  virtual TupleShape shape() const = 0;
  // Whether a transaction goes through that stage at all under that code.
  virtual bool Takes(Stage, const StageCode&) const { return true; }
  // Whether a retried transaction keeps its timestamp.
  virtual bool keeps_timestamp() const { return false; }
  // Whether others may have to wait until a transaction ends.
  virtual bool holds_up_others() const { return false; }
  // Whether the order of timestamps is the serial order. With read timestamps, a transaction's time
  // is then its timestamp, and the protocol has steps of its own for Stage::kReadAt.
  virtual bool commits_at_timestamp() const { return false; }
  // Whether a transaction may hold locks before it commits.
  virtual bool locks_in_body() const { return true; }
  // Whether a transaction that began before a moment between commits (commit_gate.h) may end after
  // it. Not if it could precede, in the serial order, one that committed before that moment.
  virtual bool MayOutlastMoment(bool /*writes*/) const { return true; }

  // Whether its stages change words of tuples by atomics.
  virtual bool has_atomics() const { return true; }

  virtual Isolation isolation() const { return Isolation::kSerializable; }
  // Whether a transaction that only reads needs no tuple for a key that has none (Access::absent).
  // If it validates what it has read, by the tuple's first word, the bucket's count of changes
  // replaces that word.
  virtual bool absence_suffices() const { return false; }

  // Whether a transaction has to name all its tuples in one Fetch.
  virtual bool fetches_once() const { return false; }
  // Collective: makes the state that each thread needs in addition; null: none.
  virtual Result<std::unique_ptr<Companion>> MakeCompanion(Engine&, Worker&) const {
    return std::unique_ptr<Companion>();
  }

  // With read timestamps, for a tuple that is locked to be written: the version that is replaced.
  virtual ReplacedVersion Replaces(const Access& access) const {
    const Timestamp written = access.time(TimeWord::kWritten);
    return {.there = written != 0 || access.existed,
            .written = written,
            .older = access.time(TimeWord::kOlder)};
  }

  // For tuples that no transaction uses: the index of the latest version, and whether all locks are
  // free.
  virtual std::size_t Latest(const std::uint64_t*) const { return 0; }
  virtual bool LocksFree(const std::uint64_t* metadata) const = 0;
  template <typename Byte>
  Byte* LatestVersion(const BasicTupleView<Byte>& tuple) const {
    return tuple.version(Latest(tuple.metadata()));
  }
  // What a reader outside of any transaction sees in a tuple's metadata: the latest version's
  // index, and a mark. Such a reader takes a ReadStamp before and after it reads a tuple at its
  // home. If the two ReadStamps and the version's word are equal, everything read in between, in
  // order, belongs to one commit. Returns nothing when a writer may be about to write.
  struct ReadStamp {
    std::size_t version = 0;
    std::uint64_t mark = 0;
    bool operator==(const ReadStamp&) const = default;
  };
  virtual std::optional<ReadStamp> StampOf(const std::uint64_t* metadata) const = 0;
  // Frees all locks of a tuple, whoever left them. Returns the largest timestamp in the metadata.
  virtual Timestamp FreeLocks(std::uint64_t* metadata) const = 0;

  // Called when a sweep removes a tuple without a record. Merges into `fresh`, the metadata of new
  // tuples, the timestamps that later tuples of the key must not fall behind.
  virtual void Inherit(const std::uint64_t* /*metadata*/, std::uint64_t* /*fresh*/) const {}

  // One step of a stage on a tuple: Post() issues its operations, and Check() interprets their
  // results. Both are const and stateless, and are called from all threads.
  virtual void Post(Stage stage, Port& port, Access& access) const = 0;
  virtual Step Check(Stage stage, Access& access) const = 0;
  // The transaction aborts while `access` is in a stage: sets the step that undoes the stage's
  // effects on the tuple. Called only for accesses that are `waiting`.
  virtual void CancelWait(Access&) const {}

  // --- the coordinator's course. False: the transaction is to be aborted.
  // Starts to read the records of newly named tuples, as far as possible without waiting. Fetch()
  // follows, for these tuples and perhaps others.
  virtual bool StartFetch(Transaction& transaction, std::span<Access* const> fresh) const = 0;
  // Reads the records.
  virtual bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const = 0;
  // Before the commit: does what may wait for transactions that are not about to commit.
  virtual bool Acquire(Transaction&) const { return true; }
  // Does all that can still fail, and waits only for other commits. When it has returned true, the
  // transaction is committed.
  virtual bool Prepare(Transaction& transaction) const = 0;
  // Makes the writes visible, and releases all tuples.
  virtual void Install(Transaction& transaction) const = 0;
  // Releases all tuples of a transaction that is aborted before Install().
  virtual void Release(Transaction& transaction) const = 0;
};

}  // namespace slimgraph::txn
