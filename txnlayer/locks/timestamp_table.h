// Basic timestamp ordering (Bernstein, Hadzilacos and Goodman): accesses to a row take effect in
// the order of the transactions' numbers, which are their timestamps. A request that comes too late
// is refused. Mode S reads a row, and mode X reads and writes it.
//
// A write is pending until its transaction ends. Later transactions that want the row wait until
// then, because they have to see the write if it commits. So transactions only wait for older ones,
// and there are no deadlocks.
#pragma once

#include <map>
#include <unordered_map>

#include "txnlayer/locks/lock_manager.h"

namespace slimgraph::txn {

class TimestampTable : public LockManager {
 public:
  LockAnswer Request(const LockRequest& request, std::uint64_t now_ns) override;
  void End(TransactionNumber transaction, bool commits, std::uint64_t now_ns,
           std::vector<LateAnswer>& answers) override;
  void Expire(std::uint64_t /*now_ns*/, std::vector<LateAnswer>& /*answers*/) override {}
  std::optional<std::uint64_t> next_expiry_ns() override { return std::nullopt; }
  bool idle() const override { return transactions_.empty(); }

 private:
  struct Row {
    TransactionNumber read = 0;     // the last that has read it
    TransactionNumber written = 0;  // the last committed write
    TransactionNumber pending = 0;  // 0: none
    std::map<TransactionNumber, LockMode> waiting;
  };
  struct Entry {
    std::vector<LockId> pending;  // rows with its writes
    LockId waits_for = 0;
    bool waits = false;
  };

  static LockAnswer Decide(Row& row, TransactionNumber transaction, LockMode mode);
  void AnswerWaiting(LockId id, std::vector<LateAnswer>& answers);

  std::unordered_map<LockId, Row> rows_;  // all that were ever accessed
  std::unordered_map<TransactionNumber, Entry> transactions_;
};

}  // namespace slimgraph::txn
