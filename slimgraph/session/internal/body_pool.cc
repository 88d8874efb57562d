#include "slimgraph/session/internal/body_pool.h"

#include <algorithm>
#include <mutex>

#include "slimgraph/session/internal/store_operations.h"

namespace slimgraph::internal {
namespace {

constexpr std::uint32_t kMostDoublings = 30;

}  // namespace

BodyPool::BodyPool(const std::vector<std::unique_ptr<txn::Lane>>& lanes, std::uint32_t threads,
                   const txn::GraphShape& shape, const RetryOptions& retry)
    : shape_(shape), retry_(retry) {
  for (std::size_t i = 0; i < std::min<std::size_t>(threads, lanes.size()); ++i) {
    threads_.emplace_back([this, lane = lanes[i].get()] { Work(*lane); });
  }
}

std::future<TransactionOutcome> BodyPool::Submit(Body body, bool only_reads) {
  Submitted submitted{std::move(body), only_reads, {}};
  std::future<TransactionOutcome> future = submitted.promise.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (!over_) {
      queue_.push_back(std::move(submitted));
      changed_.notify_one();
      return future;
    }
  }
  TransactionOutcome refused;
  refused.cause = {ErrorKind::kUsage, "Submit: the store is closed"};
  submitted.promise.set_value(std::move(refused));
  return future;
}

void BodyPool::Drain() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  const std::lock_guard lock(draining_);
  for (Thread& thread : threads_) thread.join();
  threads_.clear();
}

void BodyPool::Work(txn::Lane& lane) {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Submitted submitted = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    Run(lane, submitted);
  }
}

void BodyPool::Run(txn::Lane& lane, Submitted& submitted) {
  std::minstd_rand random(static_cast<std::minstd_rand::result_type>(
      reinterpret_cast<std::uintptr_t>(&lane) ^ reinterpret_cast<std::uintptr_t>(&submitted)));
  TransactionOutcome outcome;
  try {
    std::uint32_t conflicts = 0;
    for (bool again = false;; again = true) {
      ++outcome.attempts;
      const Next next = Try(lane, submitted, again, outcome);
      if (next == Next::kEnd) break;
      if (next == Next::kAgain) continue;
      if (++conflicts >= retry_.attempts) {
        outcome.cause.message =
            fmt::format("given up after {} attempts: {}", conflicts, outcome.cause.message);
        break;
      }
      Wait(conflicts, random);
    }
    submitted.promise.set_value(std::move(outcome));
  } catch (...) {
    submitted.promise.set_exception(std::current_exception());
  }
}

// What a body has read is certain only if its transaction could commit. That is checked before the
// error of a body, or what it has thrown, is reported.
BodyPool::Next BodyPool::Try(txn::Lane& lane, const Submitted& submitted, bool again,
                             TransactionOutcome& outcome) const {
  lane.Begin(again, submitted.only_reads);
  StoreOperations operations(lane, shape_);
  WriteTransaction transaction(operations);
  Status ended;
  std::exception_ptr thrown;
  try {
    if (!lane.abort()) ended = submitted.body(transaction);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (ended && !thrown) {
    if (const auto time = lane.Commit()) {
      outcome.end = TransactionOutcome::End::kCommitted;
      outcome.time = *time;
      outcome.cause.message.clear();
      return Next::kEnd;
    }
  } else if (lane.RollBack()) {
    if (thrown) std::rethrow_exception(thrown);
    outcome.cause = ended.error();
    return Next::kEnd;
  }
  const txn::Lane::Abort& abort = *lane.abort();
  outcome.cause = {ErrorKind::kEnvironment, abort.cause};
  if (abort.unknown) outcome.end = TransactionOutcome::End::kUnknown;
  if (!abort.again) return Next::kEnd;
  return abort.conflict ? Next::kAgainAfterConflict : Next::kAgain;
}

void BodyPool::Wait(std::uint32_t conflicts, std::minstd_rand& random) const {
  const auto most = std::min<std::uint64_t>(static_cast<std::uint64_t>(retry_.longest_wait.count()),
                                            static_cast<std::uint64_t>(retry_.first_wait.count())
                                                << std::min(conflicts - 1, kMostDoublings));
  if (most > 0) SleepFor(std::chrono::microseconds(random() % (most + 1)));
}

}  // namespace slimgraph::internal
