#include "txnlayer/graph/lane.h"

#include <algorithm>

#include "slimgraph/base/clock.h"

namespace slimgraph::txn {
namespace {

// How long an open transaction may go on when all are to come to rest.
constexpr std::uint64_t kGraceNs = 10'000'000;
// How long an open transaction may keep others waiting, at first.
constexpr std::uint64_t kIdleNs = 100'000'000;
constexpr std::uint64_t kMostDoublings = 10;
constexpr std::uint64_t kLongNs = 3'600'000'000'000;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

}  // namespace

void Lane::Begin(bool again, bool only_reads) {
  abort_.reset();
  committed_at_.reset();
  wrote_ = false;
  Run([&](GraphTransaction& graph) {
    if (!again) interruptions_ = 0;
    only_reads_ = only_reads;
    graph.transaction().Begin(again, NowNs(), only_reads);
    graph.Open(again);
    open_ = true;
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
  if (abort_) return std::nullopt;
  bool under_way = false;
  Run([&](GraphTransaction& graph) {
    if (!StillOpen()) return;
    open_ = false;
    under_way = true;
    if (graph.Commit()) {
      committed_at_ = wrote_ ? graph.committed_at() : graph_->clock().last();
    } else {
      SetAbort(graph, true);
    }
    under_way = false;
  });
  if (under_way && wrote_) abort_->unknown = true;
  return committed_at_;
}

bool Lane::RollBack() {
  if (abort_) return false;
  Run([&](GraphTransaction& graph) {
    if (!StillOpen()) return;
    open_ = false;
    if (!graph.RollBackIfConsistent()) SetAbort(graph, false);
  });
  return !abort_;
}

std::string Lane::WhyOver() const {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
  }
  return why_over_();
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
  abort_ = Abort{.again = true, .conflict = true, .cause = interrupted_by_};
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
  graph_ = &graph;
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
  const std::uint64_t start_ns = NowNs();
  std::uint64_t rest_since_ns = 0;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (work_ != nullptr) return work_;
      if (closed_) return nullptr;
    }
    if (!open_) {
      transaction.RestIfWanted();
      if (!HasWork()) transaction.task().Idle(kLongNs);
      continue;
    }
    const std::uint64_t now = NowNs();
    rest_since_ns = !transaction.rest_wanted() ? 0 : rest_since_ns == 0 ? now : rest_since_ns;
    const std::uint64_t grace_end = rest_since_ns == 0 ? kNever : rest_since_ns + kGraceNs;
    const std::uint64_t limit = IdleLimitNs(transaction);
    const std::uint64_t end = std::min(grace_end, limit == kNever ? kNever : start_ns + limit);
    if (now < end) {
      transaction.task().Idle(std::min(end - now, kLongNs));
      continue;
    }
    const bool by_limit = now < grace_end;
    if (by_limit) ++interruptions_;
    interrupted_by_ = by_limit ? "the body was blocked while its transaction held locks"
                               : "all transactions were stopped, for a fold, while "
                                 "the body was blocked";
    graph.RollBack();
    open_ = false;
  }
}

std::uint64_t Lane::IdleLimitNs(Transaction& transaction) const {
  if (only_reads_ && transaction.engine().timed()) return kNever;
  const Protocol& protocol = transaction.engine().protocol();
  const bool holds_up_a_reader = protocol.locks_in_body() && graph_->pinned() != kTimeLast;
  if (!protocol.holds_up_others() && !holds_up_a_reader) return kNever;
  return kIdleNs << std::min(interruptions_, kMostDoublings);
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
