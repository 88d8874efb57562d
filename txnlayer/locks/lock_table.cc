#include "txnlayer/locks/lock_table.h"

#include <algorithm>

#include "slimgraph/base/check.h"

namespace slimgraph::txn {
namespace {

std::size_t Index(LockMode mode) { return static_cast<std::size_t>(mode); }

}  // namespace

LockTable::Holder* LockTable::Find(Lock& lock, TransactionNumber transaction) {
  const auto found =
      std::find_if(lock.holders.begin(), lock.holders.end(),
                   [&](const Holder& holder) { return holder.transaction == transaction; });
  return found == lock.holders.end() ? nullptr : &*found;
}

bool LockTable::Permits(const Lock& lock, LockMode mode, LockMode own) {
  for (unsigned i = 1; i < kLockModes; ++i) {
    const auto other = static_cast<LockMode>(i);
    const std::uint32_t others = lock.granted[i] - (other == own ? 1U : 0U);
    if (others > 0 && !Compatible(mode, other)) return false;
  }
  return true;
}

void LockTable::Grant(Lock& lock, TransactionNumber transaction, LockMode mode, Holder* held) {
  ++lock.granted[Index(mode)];
  if (held == nullptr) {
    lock.holders.push_back({transaction, mode});
    return;
  }
  --lock.granted[Index(held->mode)];
  held->mode = mode;
}

bool LockTable::MayWait(const Lock& lock, TransactionNumber transaction) const {
  if (when_taken_ != WhenTaken::kWaitDie) return when_taken_ == WhenTaken::kBoundedWait;
  return std::all_of(lock.holders.begin(), lock.holders.end(), [&](const Holder& holder) {
    return holder.transaction == transaction || transaction < holder.transaction;
  });
}

std::size_t LockTable::PlaceInQueue(const Lock& lock, const Waiting& waiting) const {
  const auto behind = std::find_if(lock.queue.begin(), lock.queue.end(), [&](const Waiting& other) {
    if (waiting.converts != other.converts) return waiting.converts;
    return when_taken_ == WhenTaken::kWaitDie && other.transaction < waiting.transaction;
  });
  return static_cast<std::size_t>(behind - lock.queue.begin());
}

LockAnswer LockTable::Request(const LockRequest& request, std::uint64_t now_ns) {
  Lock& lock = locks_[request.lock];
  Entry& entry = transactions_[request.transaction];
  SLIM_CHECK(!entry.waits, "transaction {} has a request already", request.transaction);
  Holder* const held = Find(lock, request.transaction);
  const LockMode own = held == nullptr ? LockMode::kFree : held->mode;
  const LockMode mode = Union(own, request.mode);
  if (mode == own) return LockAnswer::kGranted;
  const bool converts = held != nullptr;
  const Waiting waiting{request.transaction, mode, converts};
  const bool may_wait = MayWait(lock, request.transaction);
  const std::size_t place = PlaceInQueue(lock, waiting);
  const bool next = converts || lock.queue.empty() || (may_wait && place == 0);
  if (next && Permits(lock, mode, own)) {
    Grant(lock, request.transaction, mode, held);
    if (!converts) entry.held.push_back(request.lock);
    return LockAnswer::kGranted;
  }
  if (!may_wait) {
    if (entry.held.empty()) transactions_.erase(request.transaction);
    return LockAnswer::kRefused;
  }
  lock.queue.insert(lock.queue.begin() + static_cast<std::ptrdiff_t>(place), waiting);
  entry.waits = true;
  entry.waits_for = request.lock;
  entry.since = ++waits_;
  if (when_taken_ == WhenTaken::kBoundedWait) {
    deadlines_.push_back({now_ns + most_wait_ns_, request.transaction, entry.since});
  }
  return LockAnswer::kLater;
}

// Grants requests from the head of the queue on, up to the first that must wait longer. Removes a
// lock that nobody holds or wants.
void LockTable::GrantWaiting(LockId id, std::vector<LateAnswer>& answers) {
  const auto found = locks_.find(id);
  Lock& lock = found->second;
  while (!lock.queue.empty()) {
    const Waiting next = lock.queue.front();
    Holder* const held = next.converts ? Find(lock, next.transaction) : nullptr;
    if (!Permits(lock, next.mode, held == nullptr ? LockMode::kFree : held->mode)) return;
    lock.queue.erase(lock.queue.begin());
    Grant(lock, next.transaction, next.mode, held);
    Entry& entry = transactions_[next.transaction];
    entry.waits = false;
    if (held == nullptr) entry.held.push_back(id);
    answers.push_back({next.transaction, id, LockAnswer::kGranted});
  }
  if (lock.holders.empty()) locks_.erase(found);
}

void LockTable::Withdraw(TransactionNumber transaction, Entry& entry,
                         std::vector<LateAnswer>& answers) {
  entry.waits = false;
  std::vector<Waiting>& queue = locks_[entry.waits_for].queue;
  queue.erase(std::find_if(queue.begin(), queue.end(), [&](const Waiting& waiting) {
    return waiting.transaction == transaction;
  }));
  GrantWaiting(entry.waits_for, answers);
}

void LockTable::End(TransactionNumber transaction, bool /*commits*/, std::uint64_t /*now_ns*/,
                    std::vector<LateAnswer>& answers) {
  const auto found = transactions_.find(transaction);
  if (found == transactions_.end()) return;  // all its requests were refused
  Entry entry = std::move(found->second);
  transactions_.erase(found);
  if (entry.waits) Withdraw(transaction, entry, answers);
  for (const LockId id : entry.held) {
    Lock& lock = locks_[id];
    Holder* const holder = Find(lock, transaction);
    --lock.granted[Index(holder->mode)];
    *holder = lock.holders.back();
    lock.holders.pop_back();
    GrantWaiting(id, answers);
  }
}

void LockTable::DropStaleDeadlines() {
  while (!deadlines_.empty()) {
    const auto found = transactions_.find(deadlines_.front().transaction);
    if (found != transactions_.end() && found->second.waits &&
        found->second.since == deadlines_.front().wait) {
      return;
    }
    deadlines_.pop_front();
  }
}

void LockTable::Expire(std::uint64_t now_ns, std::vector<LateAnswer>& answers) {
  for (DropStaleDeadlines(); !deadlines_.empty() && deadlines_.front().at_ns <= now_ns;
       DropStaleDeadlines()) {
    const TransactionNumber transaction = deadlines_.front().transaction;
    Entry& entry = transactions_[transaction];
    answers.push_back({transaction, entry.waits_for, LockAnswer::kRefused});
    Withdraw(transaction, entry, answers);
    if (entry.held.empty()) transactions_.erase(transaction);
  }
}

std::optional<std::uint64_t> LockTable::next_expiry_ns() {
  DropStaleDeadlines();
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.front().at_ns;
}

LockMode LockTable::HeldBy(TransactionNumber transaction, LockId lock) const {
  const auto found = locks_.find(lock);
  if (found == locks_.end()) return LockMode::kFree;
  for (const Holder& holder : found->second.holders) {
    if (holder.transaction == transaction) return holder.mode;
  }
  return LockMode::kFree;
}

}  // namespace slimgraph::txn
