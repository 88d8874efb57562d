// The way to a tuple's memory, on which protocols write each of their stages once. At its home (the
// transaction runs there, or a request is served there) operations are carried out at once; from
// afar they are one-sided operations of the fabric. Either way those on one tuple happen in order.
// Where an adapter's atomics are not atomic with the processor's, transactions go through it at
// their own home too.
#pragma once

#include <bit>

#include "slimgraph/base/words.h"
#include "txnlayer/access.h"
#include "txnlayer/execution/worker.h"

namespace slimgraph::txn {

class Port {
 public:
  // At the home of all that it is used for.
  Port() = default;
  // Of a transaction on node `self`. Without `doorbells`, each operation is rung for and awaited.
  Port(Task& task, Pending& pending, NodeId self, bool doorbells)
      : task_(&task),
        endpoint_(&task.worker().endpoint()),
        pending_(&pending),
        self_(self),
        by_processor_(task.worker().fabric().atomics_by_processor()),
        doorbells_(doorbells) {}

  // After the last operation: of those on a node, the last one tells of the end of all.
  void End() {
    for (; posted_ != 0; posted_ &= posted_ - 1) {
      endpoint_->SignalLast(static_cast<NodeId>(std::countr_zero(posted_)),
                            task_->worker().Tag(*pending_));
    }
  }

  void Read(const Access& access, std::uint64_t at, std::uint64_t bytes, void* into) {
    auto* const own = static_cast<std::byte*>(into);
    const std::uint64_t offset = access.offset + at;
    if (Here(access)) return LoadWords(own, access.memory() + offset, bytes);
    endpoint_->Read(access.home, access.table->region(access.rank), offset, {own, bytes}, tag(),
                    Signal::kNo);
    Posted(access.home);
  }

  // What `from` points to stays as it is until the operations are known to have ended.
  void Write(const Access& access, std::uint64_t at, std::uint64_t bytes, const void* from) {
    const auto* const own = static_cast<const std::byte*>(from);
    const std::uint64_t offset = access.offset + at;
    if (Here(access)) return StoreWords(access.memory() + offset, own, bytes);
    endpoint_->Write(access.home, access.table->region(access.rank), offset, {own, bytes}, tag(),
                     Signal::kNo);
    Posted(access.home);
  }

  void CompareSwap(const Access& access, std::uint64_t at, std::uint64_t expected,
                   std::uint64_t desired, std::uint64_t* old_word) {
    const std::uint64_t offset = access.offset + at;
    if (Here(access)) {
      WordAt(access.memory() + offset).compare_exchange_strong(expected, desired);
      *old_word = expected;
      return;
    }
    endpoint_->CompareSwap(access.home, access.table->region(access.rank), offset, expected,
                           desired, old_word, tag(), Signal::kNo);
    Posted(access.home);
  }

  // A write to a word that only this transaction changes, for it holds it locked, while others try
  // to swap it in vain. An adapter may write back what it has compared, over what is written
  // meanwhile by other means than an atomic.
  void Unlock(const Access& access, std::uint64_t at, std::uint64_t held, const std::uint64_t& to) {
    if (by_processor_) {
      return Write(access, at, kWordBytes, &to);
    }
    CompareSwap(access, at, held, to, nullptr);
  }

  void FetchAdd(const Access& access, std::uint64_t at, std::uint64_t add,
                std::uint64_t* old_word) {
    const std::uint64_t offset = access.offset + at;
    if (Here(access)) {
      *old_word = WordAt(access.memory() + offset).fetch_add(add);
      return;
    }
    endpoint_->FetchAdd(access.home, access.table->region(access.rank), offset, add, old_word,
                        tag(), Signal::kNo);
    Posted(access.home);
  }

 private:
  bool Here(const Access& access) const {
    return task_ == nullptr || (access.home == self_ && by_processor_);
  }
  std::uint64_t tag() const { return Worker::UncountedTag(*pending_); }
  void Posted(NodeId node) {
    posted_ |= std::uint64_t{1} << node;
    if (doorbells_) return;
    End();
    task_->Await(*pending_);
  }

  Task* task_ = nullptr;
  Endpoint* endpoint_ = nullptr;
  Pending* pending_ = nullptr;
  NodeId self_ = 0;
  bool by_processor_ = true;
  bool doorbells_ = true;
  std::uint64_t posted_ = 0;  // the nodes, a bit for each
  static_assert(kMaxNodes <= 64);
};

}  // namespace slimgraph::txn
