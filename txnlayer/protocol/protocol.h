// What a concurrency-control protocol is: the shape of its tuples, its stages, each written once as
// ordered operations on a tuple and a look at what they brought, and the course of a transaction
// through them. The two forms of a stage are made of the same steps: one-sided, the coordinator
// takes them over the fabric; two-sided, the home takes them on its own memory.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "txnlayer/access.h"
#include "txnlayer/port.h"
#include "txnlayer/protocol/companion.h"
#include "txnlayer/stages.h"

namespace slimgraph::txn {

class Engine;
class Transaction;

// What a look at a tuple comes to.
struct Step {
  enum Kind : std::uint8_t {
    kDone,
    kMore,  // the stage has a further step (access.step)
    kBusy,  // another transaction is in the way for a moment: try again, but not for ever
    kWait,  // the same, until it is gone
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

class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual std::string_view name() const = 0;
  // In the order of the digits of a stage code.
  virtual std::span<const Stage> stages() const = 0;
  virtual TupleShape shape() const = 0;
  // Whether a transaction goes through that stage at all under that code.
  virtual bool Takes(Stage, const StageCode&) const { return true; }
  // Whether a transaction that is tried again keeps its timestamp.
  virtual bool keeps_timestamp() const { return false; }

  // Whether its stages change words of tuples by atomics.
  virtual bool has_atomics() const { return true; }

  // Whether a tuple that is only read is nothing but looked at, now and once more at the end: its
  // first word then says whether anything has changed, and where there is no tuple, its bucket's
  // count of changes does (Access::absent).
  virtual bool looks_again() const { return false; }

  // Whether a transaction has to name all its tuples in one Fetch.
  virtual bool fetches_once() const { return false; }
  // How many tuples a transaction can have.
  virtual std::size_t most_accesses() const { return ~std::size_t{0}; }
  // Collective: what each thread needs besides; null: nothing.
  virtual Result<std::unique_ptr<Companion>> MakeCompanion(Engine&, Worker&) const {
    return std::unique_ptr<Companion>();
  }

  // Of a tuple's metadata, when no transaction runs: which version is the last one, and whether all
  // locks are free.
  virtual std::size_t Latest(const std::uint64_t*) const { return 0; }
  virtual bool Idle(const std::uint64_t* metadata) const = 0;
  // What a tuple's metadata say to whoever reads it at its home while transactions run, and is
  // none: the last version, and a mark. Where two looks find the same version, mark and word of the
  // version, all that was read of it between them, in order, is of one commit. Nothing: somebody
  // may be about to write.
  struct Look {
    std::size_t version = 0;
    std::uint64_t mark = 0;
    bool operator==(const Look&) const = default;
  };
  virtual std::optional<Look> LookAt(const std::uint64_t* metadata) const = 0;
  // Frees all locks of a tuple, whoever has left them there; the largest timestamp that it bears.
  virtual Timestamp Free(std::uint64_t* metadata) const = 0;

  // A tuple without a record is taken away. What later ones of its key must not fall behind goes
  // into `fresh`, the metadata that new tuples have.
  virtual void Inherit(const std::uint64_t* /*metadata*/, std::uint64_t* /*fresh*/) const {}

  // One step of a stage at a tuple: the operations, and what they mean when they have been carried
  // out. Const and without state of their own: called from all threads.
  virtual void Post(Stage stage, Port& port, Access& access) const = 0;
  virtual Step Check(Stage stage, Access& access) const = 0;
  // The transaction aborts while `access` is in a stage: sets the step that undoes what the stage
  // has left at the tuple. Asked only of accesses that are `waiting`.
  virtual void GiveUp(Access&) const {}

  // --- the coordinator's course. False: the transaction is to be aborted.
  // Begins to bring the records of tuples that the transaction has just named, as far as that goes
  // without waiting for them; Fetch() of the same and perhaps others follows.
  virtual bool Ask(Transaction& transaction, std::span<Access* const> fresh) const = 0;
  // Brings the records.
  virtual bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const = 0;
  // All that must hold before anything is installed. When it has returned true, the transaction is
  // committed.
  virtual bool Prepare(Transaction& transaction) const = 0;
  // Makes the writes visible, and lets go of all tuples.
  virtual void Install(Transaction& transaction) const = 0;
  // The same for a transaction that is aborted: nothing was installed.
  virtual void Release(Transaction& transaction) const = 0;
};

std::vector<std::string_view> ProtocolNames();
Result<std::unique_ptr<Protocol>> MakeProtocol(std::string_view name);

}  // namespace slimgraph::txn
