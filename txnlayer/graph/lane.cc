#include "txnlayer/graph/lane.h"

#include <algorithm>

#include "slimgraph/base/clock.h"

namespace slimgraph::txn {
namespace {

// How long an open transaction may go on when all are to come to rest.
constexpr std::uint64_t kGraceNs = 10'000'000;
constexpr std::uint64_t kLongNs = 3'600'000'000'000;

}  // namespace

void Lane::Begin(bool again) {
  abort_.reset();
  wrote_ = false;
  Run([&](GraphTransaction& graph) {
    graph.transaction().Begin(again);
    open_ = graph.Open(again);
    if (!open_) SetAbort(graph, false);
  });
}

Answer Lane::Do(const std::function<Answer(GraphTransaction&)>& operation) {
  Answer answer = Answer::kAborted;
  if (abort_) return answer;
  Run([&](GraphTransaction& graph) {
    if (!StillOpen()) return;
    answer = operation(graph);
    open_ = answer != Answer::kAborted;
    wrote_ = graph.wrote();
    if (!open_) SetAbort(graph, false);
  });
  return answer;
}

std::optional<GraphTime> Lane::Commit() {
  committed_at_.reset();
  if (abort_) return std::nullopt;
  bool under_way = false;
  Run([&](GraphTransaction& graph) {
    if (!StillOpen()) return;
    open_ = false;
    under_way = true;
    if (graph.Commit()) {
      committed_at_ = graph.committed_at();
    } else {
      SetAbort(graph, true);
    }
    under_way = false;
  });
  if (under_way && wrote_) abort_->unknown = true;
  return committed_at_;
}

void Lane::RollBack() {
  if (abort_) return;
  Run([&](GraphTransaction& graph) {
    if (open_) graph.RollBack();
    open_ = false;
  });
}

void Lane::Run(const Work& work) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) work_ = &work;
  }
  wake_();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return work_ == nullptr || failure_; });
  work_ = nullptr;
  if (failure_) {
    if (!abort_ && !committed_at_) abort_ = Abort{.cause = *failure_};
  }
}

bool Lane::StillOpen() {
  if (open_) return true;
  abort_ = Abort{.again = true,
                 .cause =
                     "all transactions were stopped, for a snapshot or a fold, while the body "
                     "was blocked"};
  return false;
}

// A transaction that has not reached the end of Prepare() when a node dies is aborted for certain.
// But other nodes may have got a part of a later one.
void Lane::SetAbort(GraphTransaction& graph, bool in_commit) {
  const AbortReason reason = graph.transaction().reason();
  const bool failed = graph.transaction().task().worker().failed();
  const bool lost = failed || reason == AbortReason::kNodeLost;
  abort_ = Abort{.again = !lost && (graph.learning() || !IsRefusal(reason)),
                 .conflict = !graph.learning(),
                 .unknown = in_commit && lost && wrote_,
                 .cause = graph.Cause()};
}

void Lane::Serve(TransactionalGraph& graph, Transaction& transaction) {
  GraphTransaction operations(graph, transaction);
  while (const Work* const work = AwaitWork(operations)) {
    (*work)(operations);
    {
      const std::lock_guard lock(mutex_);
      work_ = nullptr;
    }
    done_.notify_one();
  }
}

const Lane::Work* Lane::AwaitWork(GraphTransaction& graph) {
  Transaction& transaction = graph.transaction();
  std::uint64_t rest_since_ns = 0;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (work_ != nullptr) return work_;
      if (closed_) return nullptr;
    }
    const std::uint64_t now = NowNs();
    if (!open_) {
      transaction.RestIfWanted();
      if (!HasWork()) transaction.task().Idle(kLongNs);
      continue;
    }
    if (!transaction.rest_wanted()) {
      rest_since_ns = 0;
      transaction.task().Idle(kLongNs);
      continue;
    }
    if (rest_since_ns == 0) rest_since_ns = now;
    if (now < rest_since_ns + kGraceNs) {
      transaction.task().Idle(rest_since_ns + kGraceNs - now);
      continue;
    }
    graph.RollBack();
    open_ = false;
  }
}

// The thread's call for attention may have come while the coroutine rested.
bool Lane::HasWork() {
  const std::lock_guard lock(mutex_);
  return work_ != nullptr || closed_;
}

void Lane::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  wake_();
}

void Lane::Fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  failure_ = why;
  done_.notify_one();
}

}  // namespace slimgraph::txn
