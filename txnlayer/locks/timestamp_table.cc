#include "txnlayer/locks/timestamp_table.h"

#include <algorithm>

#include "slimgraph/base/check.h"

namespace slimgraph::txn {

LockAnswer TimestampTable::Decide(Row& row, TransactionNumber transaction, LockMode mode) {
  if (transaction == row.pending) return LockAnswer::kGranted;  // its own write
  const bool writes = mode == LockMode::kX;
  if (transaction < row.written || (writes && transaction < row.read)) return LockAnswer::kRefused;
  if (row.pending != 0 && row.pending < transaction) return LockAnswer::kLater;
  row.read = std::max(row.read, transaction);
  if (writes) row.pending = transaction;
  return LockAnswer::kGranted;
}

LockAnswer TimestampTable::Request(const LockRequest& request, std::uint64_t /*now_ns*/) {
  const bool writes = request.mode == LockMode::kX;
  SLIM_CHECK(writes || request.mode == LockMode::kS, "timestamp ordering has no intention modes");
  Row& row = rows_[request.lock];
  const bool own = row.pending == request.transaction;
  const LockAnswer answer = Decide(row, request.transaction, request.mode);
  if (answer == LockAnswer::kRefused || own || (answer == LockAnswer::kGranted && !writes)) {
    return answer;
  }
  Entry& entry = transactions_[request.transaction];
  SLIM_CHECK(!entry.waits, "transaction {} has a request already", request.transaction);
  if (answer == LockAnswer::kGranted) {
    entry.pending.push_back(request.lock);
  } else {
    row.waiting.emplace(request.transaction, request.mode);
    entry.waits = true;
    entry.waits_for = request.lock;
  }
  return answer;
}

// In the order of timestamps, up to the first that waits for another pending write.
void TimestampTable::AnswerWaiting(LockId id, std::vector<LateAnswer>& answers) {
  Row& row = rows_[id];
  while (!row.waiting.empty()) {
    const auto [transaction, mode] = *row.waiting.begin();
    const LockAnswer answer = Decide(row, transaction, mode);
    if (answer == LockAnswer::kLater) return;
    row.waiting.erase(row.waiting.begin());
    Entry& entry = transactions_[transaction];
    entry.waits = false;
    if (answer == LockAnswer::kGranted && mode == LockMode::kX) entry.pending.push_back(id);
    if (entry.pending.empty()) transactions_.erase(transaction);
    answers.push_back({transaction, id, answer});
  }
}

void TimestampTable::End(TransactionNumber transaction, bool commits, std::uint64_t /*now_ns*/,
                         std::vector<LateAnswer>& answers) {
  const auto found = transactions_.find(transaction);
  if (found == transactions_.end()) return;  // it has written nothing here
  const Entry entry = std::move(found->second);
  transactions_.erase(found);
  if (entry.waits) rows_[entry.waits_for].waiting.erase(transaction);
  for (const LockId id : entry.pending) {
    Row& row = rows_[id];
    row.pending = 0;
    if (commits) row.written = transaction;
    AnswerWaiting(id, answers);
  }
}

}  // namespace slimgraph::txn
