// Ends and resizes the jobs of a pool.
#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/units.h"
#include "slimgraph/cluster/topology.h"
#include "slimgraph/pool/internal/conversation.h"
#include "slimgraph/pool/pool.h"

namespace slimgraph {
namespace {

using internal::Conversation;
using internal::Words;

constexpr std::uint64_t kUntilJobEndsNs = 10'000'000'000;
constexpr std::uint64_t kUntilResizedNs = 60'000'000'000;

Error NoSuchJob(const std::string& pool, const std::string& job) {
  return InputError("pool '{}' has no job of process {}: 'slimgraph job list {}' shows its jobs",
                    pool, job, pool)
      .value();
}

// What the nodes of the pool say of the job, whose compute nodes they tell differently while it
// changes them.
Result<std::vector<AttachedJobStatus>> DeputiesOf(const std::string& pool, const std::string& job) {
  SLIM_ASSIGN(const PoolView view, ViewPool(pool));
  std::vector<AttachedJobStatus> found;
  for (const PoolNodeView& node : view.nodes) {
    if (!node.status) continue;
    std::copy_if(node.status->jobs.begin(), node.status->jobs.end(), std::back_inserter(found),
                 [&](const AttachedJobStatus& one) { return one.client == job; });
  }
  return found;
}

}  // namespace

Status CancelJob(const std::string& name, const std::string& job) {
  SLIM_ASSIGN(const PoolDescriptor pool, ReadDescriptor(name));
  const std::uint64_t deadline_ns = NowNs() + kUntilJobEndsNs;
  bool found = false;
  while (true) {
    std::size_t left = 0;
    for (NodeId node = 0; node < pool.nodes.size(); ++node) {
      if (!IsRunning(pool.nodes[node])) continue;
      SLIM_ASSIGN(auto conversation, Conversation::Open(pool, node));
      SLIM_ASSIGN(const Words answer, conversation.Ask({std::string(internal::kCancel), job}));
      if (answer != Words{"0"}) ++left;
    }
    if (left == 0 && found) return {};
    if (left == 0) return tl::unexpected<Error>(NoSuchJob(name, job));
    found = true;
    if (NowNs() > deadline_ns) {
      return EnvironmentError("the job of process {} does not end", job);
    }
    SleepFor(std::chrono::milliseconds(5));
  }
}

Result<NodeId> ResizeJob(const std::string& name, const std::string& job, NodeId compute) {
  SLIM_ASSIGN(const auto before, DeputiesOf(name, job));
  if (before.empty()) return tl::unexpected<Error>(NoSuchJob(name, job));
  SLIM_ASSIGN(const PoolDescriptor pool, ReadDescriptor(name));
  for (NodeId node = 0; node < pool.nodes.size(); ++node) {
    if (!IsRunning(pool.nodes[node])) continue;
    SLIM_ASSIGN(auto conversation, Conversation::Open(pool, node));
    SLIM_TRY(conversation.Ask({std::string(internal::kResize), job, fmt::format("{}", compute)}));
  }
  const std::uint64_t deadline_ns = NowNs() + kUntilResizedNs;
  while (true) {
    SLIM_ASSIGN(const auto now, DeputiesOf(name, job));
    if (now.empty()) {
      return EnvironmentError("the job of process {} has ended before it had {}", job,
                              FormatCounted(compute, "compute node"));
    }
    const bool all = std::all_of(now.begin(), now.end(),
                                 [&](const auto& deputy) { return deputy.compute == compute; });
    if (all) return before.front().compute;
    for (const AttachedJobStatus& deputy : now) {
      if (deputy.kept.empty()) continue;
      return EnvironmentError("the job of process {} keeps its {}: {}", job,
                              FormatCounted(deputy.compute, "compute node"), deputy.kept);
    }
    if (NowNs() > deadline_ns) {
      return EnvironmentError(
          "the job of process {} still has {} after a minute: it changes them between two of its "
          "steps",
          job, FormatCounted(now.front().compute, "compute node"));
    }
    SleepFor(std::chrono::milliseconds(10));
  }
}

}  // namespace slimgraph
