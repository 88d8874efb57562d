#include "dkudu/internal/task_share.h"

#include <algorithm>
#include <mutex>

namespace slimgraph::dkudu {

namespace {

// Added to the counters of claimed tasks at a stop: more than there are tasks.
constexpr std::uint64_t kNoneLeft = std::uint64_t{1} << 48;

}  // namespace

TaskShare::TaskShare(const MiningJob& job, bool may_slice, Continuation* continuation)
    : job_(job.cluster.job()),
      graph_(job.graph),
      first_(job.cluster.fabric().endpoint(0)),
      continuation_(continuation),
      may_slice_(may_slice),
      steal_(job.options.steal == Steal::kOn),
      threads_(job.cluster.threads()),
      shares_(job.cluster.topology().compute()) {
  if (continuation_ == nullptr || continuation_->rest().empty()) return;
  rest_ = RestOfRoots::FromWords(graph_.vertices(), continuation_->rest());
}

Result<std::unique_ptr<TaskShare>> TaskShare::Make(MiningJob& job, bool may_slice,
                                                   Continuation* continuation) {
  std::unique_ptr<TaskShare> share(new TaskShare(job, may_slice, continuation));
  SLIM_ASSIGN(share->counters_, job.regions.Take(job.cluster, sizeof(std::uint64_t)));
  return share;
}

// All nodes know all degrees, from which the tasks of each node follow.
TaskShare::Share& TaskShare::ShareOf(NodeId node) {
  Share& share = shares_[node];
  if (share.listed.load(std::memory_order_acquire)) return share;
  const std::lock_guard lock(share.mutex);
  if (share.listed.load(std::memory_order_relaxed)) return share;
  share.tasks = RootTasksOf(graph_, node, may_slice_, rest_ ? &*rest_ : nullptr);
  share.left.resize(share.tasks.size());
  std::uint64_t left = 0;
  for (std::size_t i = share.tasks.size(); i-- > 0;) {
    share.left[i] = left += share.tasks[i].neighbours;
  }
  share.listed.store(true, std::memory_order_release);
  return share;
}

Result<std::optional<RootTask>> TaskShare::ClaimTask(Endpoint& endpoint) {
  if (job_.cancelled()) return tl::unexpected<Error>(Job::CancelledStatus().error());
  Share& own = ShareOf(graph_.self());
  if (!own.exhausted) {
    SLIM_ASSIGN(const std::uint64_t next, ClaimIndex(endpoint, graph_.self()));
    SLIM_TRY(Note(endpoint, own, next));
    if (next < own.tasks.size()) return own.tasks[next];
    own.exhausted = true;
  }
  while (steal_) {
    SLIM_ASSIGN(const auto victim, NodeWithMostLeft(endpoint));
    if (!victim) break;
    SLIM_ASSIGN(const std::uint64_t next, ClaimIndex(endpoint, *victim));
    Share& theirs = ShareOf(*victim);
    if (next < theirs.tasks.size()) {
      ++stolen_;
      return theirs.tasks[next];
    }
    theirs.exhausted = true;
  }
  return std::nullopt;
}

Result<std::uint64_t> TaskShare::ClaimIndex(Endpoint& endpoint, NodeId node) const {
  std::uint64_t next = 0;
  endpoint.FetchAdd(node, counters_.id(), 0, 1, &next);
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return next;
  return EnvironmentError("cannot claim work of node {}: {}", node, OutcomeName(outcome));
}

// Thread 0 of node 0 asks, with each of its own tasks.
Status TaskShare::Note(Endpoint& endpoint, const Share& own, std::uint64_t next) {
  const std::size_t tasks = own.tasks.size();
  if (continuation_ == nullptr) {
    if (tells_progress_) job_.SetProgress(std::min(next, tasks), tasks);
    return {};
  }
  if (next >= tasks) return {};
  const auto all = static_cast<double>(std::max<std::uint64_t>(1, own.left.front()));
  const double percent = 100 * (1 - static_cast<double>(own.left[next]) / all);
  job_.SetProgress(static_cast<std::uint64_t>(continuation_->Begun(percent)), 100);
  if (graph_.self() != 0 || &endpoint != &first_ || !continuation_->AsksToStop(percent)) return {};
  left_at_.resize(shares_.size());
  for (NodeId node = 0; node < shares_.size(); ++node) {
    endpoint.FetchAdd(node, counters_.id(), 0, kNoneLeft, &left_at_[node]);
  }
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot stop the claims of other nodes: {}", OutcomeName(outcome));
}

Result<Continuation::Words> TaskShare::Rest() {
  RestOfRoots rest(graph_.vertices());
  for (NodeId node = 0; node < left_at_.size(); ++node) {
    const std::vector<RootTask>& tasks = ShareOf(node).tasks;
    for (std::size_t i = left_at_[node]; i < tasks.size(); ++i) rest.Add(tasks[i], graph_);
  }
  return rest.ToWords();
}

// The node whose unclaimed tasks have the most neighbours in total. The last tasks, which its own
// threads are about to claim, are left to it because it has the lists.
Result<std::optional<NodeId>> TaskShare::NodeWithMostLeft(Endpoint& endpoint) {
  std::vector<std::uint64_t> claimed(shares_.size());
  for (NodeId node = 0; node < shares_.size(); ++node) {
    if (shares_[node].exhausted) continue;
    endpoint.Read(node, counters_.id(), 0, std::as_writable_bytes(std::span(&claimed[node], 1)));
  }
  const Outcome outcome = endpoint.Flush();
  if (outcome != Outcome::kOk) {
    return EnvironmentError("cannot read the progress of other nodes: {}", OutcomeName(outcome));
  }
  std::optional<NodeId> furthest;
  std::uint64_t most = 0;
  for (NodeId node = 0; node < shares_.size(); ++node) {
    if (shares_[node].exhausted) continue;
    const Share& share = ShareOf(node);
    if (claimed[node] + threads_ >= share.tasks.size()) {
      shares_[node].exhausted = true;
    } else if (share.left[claimed[node]] > most) {
      most = share.left[claimed[node]];
      furthest = node;
    }
  }
  return furthest;
}

}  // namespace slimgraph::dkudu
