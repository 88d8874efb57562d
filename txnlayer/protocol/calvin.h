// CALVIN (Thomson et al., SIGMOD 2012): the order of transactions is agreed on before they run.
// Each thread of a compute node is a sequencer: it gathers what its coroutines want to run into an
// epoch's batch and broadcasts it. Each thread of every node is a scheduler: once it has the
// batches of all sequencers for an epoch, it queues their lock requests for its tuples, in order of
// sequencer and of place in the batch, forwards the values of tuples whose turn has come to the
// transactions, and takes back what they have become. No transaction waits in a circle, and none is
// aborted but by itself.
//
// All schedulers queue in the same order, that of (epoch, sequencer, place), which is therefore a
// serial one. It is also that of real time: a transaction runs only after all sequencers have
// closed its epoch, so whatever begins after its end is of a later one.
//
// Stages: Lock is the broadcast, Read the forwarding of values, Commit what comes back. Two-sided
// they are messages. One-sided they are writes into buffers of the receiver, the content first and
// then, ordered after it, a word that says of which epoch or transaction it is; the receiver looks
// for that word in its own memory. A batch's buffer is used again sixteen epochs later,
// when all schedulers have told, by writing a count now and then, that they are through with it; a
// transaction's buffers, when the coroutine's next transaction is granted something, for which this
// one has ended. A write wakes nobody: so a compute node's thread that is about to sleep writes to
// the others that it does, and who has then written into its memory sends it an empty message.
//
// To choose between the forms (mix_stages), epochs of the one and of the other take turns.
//
// After a death, whoever has not got all its values is abandoned, the others end, and all queues
// and epochs begin anew.
//
// A tuple is only touched by whom its queue has admitted, so no read is torn. The word of a tuple
// counts for those outside of queues: it is odd while a writer is admitted. As the order is fixed
// before, a transaction names all its tuples in one Fetch.
#pragma once

#include "txnlayer/protocol/protocol.h"

namespace slimgraph::txn {

class Calvin : public Protocol {
 public:
  std::string_view name() const override { return "calvin"; }
  std::span<const Stage> stages() const override;
  TupleShape shape() const override { return {.metadata_words = 1}; }
  bool Idle(const std::uint64_t*) const override { return true; }
  std::optional<Look> LookAt(const std::uint64_t* metadata) const override {
    if (metadata[0] % 2 != 0) return std::nullopt;
    return Look{.mark = metadata[0]};
  }
  Timestamp Free(std::uint64_t*) const override { return 0; }
  bool fetches_once() const override { return true; }
  std::size_t most_accesses() const override;
  bool has_atomics() const override { return false; }
  Result<std::unique_ptr<Companion>> MakeCompanion(Engine& engine, Worker& worker) const override;

  void Post(Stage, Port&, Access&) const override {}
  Step Check(Stage, Access&) const override { return Step::Done(); }
  bool Ask(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Fetch(Transaction& transaction, std::span<Access* const> fresh) const override;
  bool Prepare(Transaction&) const override { return true; }
  void Install(Transaction& transaction) const override;
  void Release(Transaction& transaction) const override;
};

}  // namespace slimgraph::txn
