// CALVIN (Thomson et al., SIGMOD 2012): the order of transactions is agreed on before they run.
// Each thread of a compute node is a sequencer: it collects its coroutines' transactions into a
// batch per epoch and broadcasts the batch. Each thread of every node is a scheduler. Once it has
// the batches of all sequencers for an epoch, it queues their lock requests for its tuples. It
// orders them by sequencer and by position in the batch. It forwards the values of granted tuples
// to the transactions, and receives the written values. There are no deadlocks, and a transaction
// aborts only if it decides so itself.
//
// All schedulers queue in the same order (epoch, sequencer, position), so that order is a serial
// one. It also agrees with real time: a transaction runs only after all sequencers have closed its
// epoch, so a transaction that begins after its end belongs to a later epoch.
//
// Stages: Lock broadcasts the batches, Read forwards the values, Commit returns the written values.
// Two-sided, these are messages. One-sided, they are writes into buffers of the receiver: first the
// content, and then, ordered after it, a word with the number of the epoch or transaction. The
// receiver polls that word in its own memory. The buffer of a batch is reused sixteen epochs later,
// when all schedulers have consumed the batch. They report that now and then by writing a count.
// The buffers of a transaction are reused when the coroutine's next transaction is granted a tuple,
// because the first one has ended by then. A large transaction has no room in the buffers: its
// batch comes in messages, and so do all but the first of its values. A write wakes no thread. So a
// thread of a compute node announces to the others, by a write, that it is about to sleep. A thread
// that writes into its memory afterwards sends it an empty message.
//
// With mix_stages, one-sided and two-sided epochs alternate, so that both can be measured.
//
// After a death, transactions that lack some values are abandoned, the others end, and all queues
// and epochs are reset.
//
// A tuple is only accessed by transactions that its queue has admitted, so no read is torn. The
// tuple's word is for readers outside of the queues: it is odd while a writer is admitted. As the
// order is fixed in advance, a transaction names all its tuples in one Fetch. A transaction that
// only looks (Transaction::Look) is ordered anew in each Fetch, as one that reads, and ends there
// when it has the values.
#pragma once

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn {

class Calvin : public Protocol {
 public:
  std::string_view name() const override { return "calvin"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override { return {.metadata_words = 1}; }
  bool LocksFree(const std::uint64_t*) const override { return true; }
  std::optional<ReadStamp> StampOf(const std::uint64_t* metadata) const override {
    if (metadata[0] % 2 != 0) return std::nullopt;
    return ReadStamp{.mark = metadata[0]};
  }
  Timestamp FreeLocks(std::uint64_t*) const override { return 0; }
  bool fetches_once() const override { return true; }
  bool holds_up_others() const override { return true; }
  bool has_atomics() const override { return false; }
  Result<std::unique_ptr<Companion>> MakeCompanion(Engine& engine, Worker& worker) const override;

  void Post(Stage, Port&, Access&) const override {}
  Step Check(Stage, Access&) const override { return Step::Done(); }
  bool StartFetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction& transaction) const override;
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;
};

}  // namespace slimgraph::txn
