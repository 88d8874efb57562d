// Access to a tuple's memory, with which protocols write each of their stages once. At the tuple's
// home (where the transaction runs or a request is served) operations are carried out at once. From
// other nodes they are one-sided operations of the fabric. Either way, operations on one tuple
// happen in order. If an adapter's atomics are not atomic with the processor's, transactions use
// the adapter at their own home too.
#pragma once

#include "slimgraph/base/node_set.h"
#include "slimgraph/base/words.h"
#include "txnlayer/internal/execution/worker.h"
#include "txnlayer/internal/stages/access.h"

namespace slimgraph::txn {

class Port {
 public:
  // For use at the home of all tuples.
  Port() = default;
  // For a transaction that accesses the tuples of node `near` at once. Without `doorbells`, each
  // operation is sent and awaited by itself.
  Port(Task& task, Pending& pending, NodeId near, bool doorbells)
      : task_(&task),
        endpoint_(&task.worker().endpoint()),
        pending_(&pending),
        near_(near),
        by_processor_(task.worker().fabric().atomics_by_processor()),
        doorbells_(doorbells) {}

  // Called after the last operation: on each node, the last operation signals the end of all.
  void End() {
    if (posted_.empty()) return;
    posted_.ForEach(
        [this](NodeId node) { endpoint_->SignalLast(node, task_->worker().Tag(*pending_)); });
    posted_.Clear();
  }

  void Read(const Access& access, std::uint64_t at, std::uint64_t bytes, void* into) {
    auto* const own = static_cast<std::byte*>(into);
    const std::uint64_t offset = access.offset + at;
    if (Here(access)) return LoadWords(own, access.memory() + offset, bytes);
    endpoint_->Read(access.home, access.table->region(access.rank), offset, {own, bytes}, tag(),
                    Signal::kNo);
    Posted(access.home);
  }

  // `from` must stay unchanged until the operations are known to have ended.
  void Write(const Access& access, std::uint64_t at, std::uint64_t bytes, const void* from) {
    const auto* const own = static_cast<const std::byte*>(from);
    const std::uint64_t offset = access.offset + at;
    if (Here(access)) return StoreWords(access.memory() + offset, own, bytes);
    endpoint_->Write(access.home, access.table->region(access.rank), offset, {own, bytes}, tag(),
                     Signal::kNo);
    Posted(access.home);
  }

  // Keeps the version that is about to be replaced, at access.kept_at. At home it is copied from
  // the tuple: `version`, or else the only one, which the tuple's TimeWords describe.
  void KeepVersion(const Access& access, const ReplacedVersion* version = nullptr) {
    const OldVersions& all = *access.table->old_versions();
    const std::uint64_t bytes = OldVersions::KeptBytes(access.table->image_bytes());
    if (Here(access)) return KeepHere(access, all, bytes, version);
    endpoint_->Write(access.home, all.region(), access.kept_at, {access.kept.bytes, bytes}, tag(),
                     Signal::kNo);
    Posted(access.home);
  }
  // Reads the kept version at access.kept_at, to access.kept.
  void ReadKept(const Access& access) {
    const OldVersions& all = *access.table->old_versions();
    const std::uint64_t bytes = OldVersions::KeptBytes(access.table->image_bytes());
    if (Here(access)) return LoadWords(access.kept.bytes, all.memory() + access.kept_at, bytes);
    endpoint_->Read(access.home, all.region(), access.kept_at, {access.kept.bytes, bytes}, tag(),
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

  // Releases a lock. Only this transaction changes the word, but others may try to swap it. On RDMA
  // a failed remote CAS may still write back the old value, and so overwrite a plain write. So
  // where an adapter carries out the atomics, the word is released with a CAS.
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
  static void KeepHere(const Access& access, const OldVersions& all, std::uint64_t bytes,
                       const ReplacedVersion* version);
  bool Here(const Access& access) const {
    return task_ == nullptr || (access.home == near_ && by_processor_);
  }
  std::uint64_t tag() const { return Worker::UncountedTag(*pending_); }
  // Not inlined: the paths for the own node would save more registers.
  [[gnu::noinline]] void Posted(NodeId node) {
    posted_.Add(node);
    if (doorbells_) return;
    End();
    task_->Await(*pending_);
  }

  Task* task_ = nullptr;
  Endpoint* endpoint_ = nullptr;
  Pending* pending_ = nullptr;
  NodeId near_ = 0;
  bool by_processor_ = true;
  bool doorbells_ = true;
  NodeSet posted_;
};

}  // namespace slimgraph::txn
