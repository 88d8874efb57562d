// Transactions of one thread outside the engine at a time. The thread hands each operation to a
// coroutine of the engine and sleeps until it is done. So the thread may block between two
// operations, while the engine's threads go on.
//
// A transaction that is open when all transactions are to come to rest, for a fold, is given 10 ms
// to end. Then it is aborted, because its thread may be blocked for long, or wait
// for a transaction that cannot begin. Its thread learns that from its next operation.
//
// Under most protocols others wait for what a transaction has locked or is about to write, perhaps
// the very one for which its thread waits. So there a transaction whose thread hands over nothing
// for 100 ms is aborted too. Under the others with locks, that holds while a snapshot or a fold
// reads the tables, and may wait for those locks. Each time it happens to the same work, the limit
// doubles.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "slimgraph/base/sync.h"
#include "txnlayer/graph/graph_transaction.h"

namespace slimgraph::txn {

class Lane {
 public:
  // `wake` makes the engine's thread look at its lanes soon; `why_over` tells why the job is over,
  // which the engine may not have noticed yet, or nothing.
  Lane(std::function<void()> wake, std::function<std::string()> why_over)
      : wake_(std::move(wake)), why_over_(std::move(why_over)) {}

  // Why a transaction has ended without a commit.
  struct Abort {
    bool again = false;     // a retry may commit
    bool conflict = false;  // it met another transaction, or was stopped
    bool unknown = false;   // it may have been committed all the same
    std::string cause = {};
  };

  // --- for the thread outside, in this order
  // `again`: a retry of the work that was aborted before. `only_reads`: see Transaction::Begin().
  void Begin(bool again, bool only_reads);
  // kAborted: the transaction has ended; see abort().
  Answer Do(const std::function<Answer(GraphTransaction&)>& operation);
  // The time of the commit, or, if the transaction has written nothing, a time that is not earlier
  // than any commit that it has seen (a fold drops the times of blocks). Nothing: see abort().
  std::optional<GraphTime> Commit();
  // Aborts it. False: what it has read does not belong to one state; see abort().
  bool RollBack();
  // Set if the current transaction was aborted.
  const std::optional<Abort>& abort() const { return abort_; }
  // Why the engine runs no more, or will soon not; or nothing.
  std::string WhyOver() const;

  // --- for the host
  // Runs in the coroutine until Close().
  void Serve(TransactionalGraph& graph, Transaction& transaction);
  // No thread uses the lane any more.
  void Close();
  // The engine runs no more: whoever waits for it goes on with an error, now and later.
  void Fail(const std::string& why);

 private:
  using Work = std::function<void(GraphTransaction&)>;
  void Run(const Work& work);
  const Work* AwaitWork(GraphTransaction& graph);
  void SetAbort(GraphTransaction& graph, bool in_commit);
  bool StillOpen();
  std::uint64_t IdleLimitNs(Transaction& transaction) const;
  bool HasWork();

  const std::function<void()> wake_;
  const std::function<std::string()> why_over_;
  mutable Mutex mutex_;
  Condition done_;
  const Work* work_ = nullptr;  // under the mutex, as are these two
  bool closed_ = false;
  std::optional<std::string> failure_;

  // Used by the coroutine only.
  TransactionalGraph* graph_ = nullptr;
  bool open_ = false;
  bool only_reads_ = false;
  const char* interrupted_by_ = "";
  std::uint64_t interruptions_ = 0;  // of the current work, by the limit

  // Written by the thread, or by the work that it has handed over.
  std::optional<Abort> abort_;
  std::optional<GraphTime> committed_at_;
  bool wrote_ = false;
};

}  // namespace slimgraph::txn
