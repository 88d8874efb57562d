#include "slimgraph/session/memory_node.h"

#include <atomic>
#include <iterator>
#include <optional>

#include "slimgraph/base/sync.h"
#include "slimgraph/launch/started_by.h"
#include "slimgraph/session/internal/mining.h"
#include "slimgraph/session/internal/open_graph.h"
#include "slimgraph/session/internal/open_store.h"
#include "slimgraph/session/internal/processes.h"

namespace slimgraph {
namespace {

using internal::Call;
using internal::OpenGraphs;

Result<std::unique_ptr<Job>> JoinSession() {
  SLIM_ASSIGN(const auto place, internal::TakePlace());
  if (place && (place->node < place->compute || place->node == 0)) {
    return UsageError("{} does not name a memory node", internal::kJoinVariable);
  }
  if (place) return Job::Join(place->Config(), OnLoss::kReport);
  if (StartedBy() == Starter::kNobody) {
    return UsageError("{} is started by a session, not by hand", kMemoryNodeCommand);
  }
  if (StartedRank() == 0) {
    return UsageError("{}: node 0 of a session is its program, not a memory node",
                      kMemoryNodeCommand);
  }
  return Job::JoinFromEnvironment(PmiUse::kFormJob, OnLoss::kReport);
}

// Waits for the next call. Meanwhile it answers for all loaded lists. The wait is on a thread of
// its own, because this one polls the lists' endpoint.
Result<Call> AwaitCallServing(Job& job, OpenGraphs::iterator next, OpenGraphs::iterator end) {
  while (next != end && next->second->lists() == nullptr) ++next;
  if (next == end) return internal::AwaitCall(job);
  internal::VertexLists& lists = *next->second->lists();
  if (lists.request().cluster.cache.side == MemorySide::kStrict) {
    return AwaitCallServing(job, std::next(next), end);
  }
  std::optional<Result<Call>> call;
  SLIM_TRY(lists.work().ServeWhile([&]() -> Status {
    Endpoint& endpoint = lists.cluster().fabric().endpoint(0);
    std::atomic<bool> called{false};
    Thread waiting([&] {
      call = AwaitCallServing(job, std::next(next), end);
      called = true;
      endpoint.Wake();
    });
    while (!endpoint.WaitUntil([&] { return called.load(); }, std::chrono::hours(1))) {
    }
    waiting.join();
    return {};
  }));
  return *std::move(call);
}

Status Serve(Job& job, OpenGraphs& graphs, internal::OpenStores& stores) {
  while (true) {
    const auto call = AwaitCallServing(job, graphs.begin(), graphs.end());
    if (!call) {
      // Compute nodes that make different calls, and a call that node 0 cannot make, get an error
      // and go on.
      if (job.all_alive()) continue;
      return tl::unexpected<Error>(call.error());
    }
    SLIM_ASSIGN(const auto refusal,
                internal::DoOnEveryNode(job, *call, graphs, /*computes=*/false));
    if (refusal) continue;
    SLIM_ASSIGN(const auto of_store,
                internal::DoOnStores(job, *call, stores, graphs, /*computes=*/false));
    if (of_store) continue;
    if (call->task == internal::Task::kMine) {
      SLIM_TRY(internal::MineOnMemoryNode(job, graphs.at(call->graph)->file(), *call));
    }
    if (call->task == internal::Task::kEnd) return {};
  }
}

}  // namespace

Status ServeSession() {
  SLIM_ASSIGN(const auto job, JoinSession());
  SLIM_TRY(internal::AgreeOnVersion(*job, internal::VersionOfCalls()));
  OpenGraphs graphs;
  internal::OpenStores stores;
  const Status served = Serve(*job, graphs, stores);
  if (served) return job->Leave(0);
  if (job->all_alive()) internal::FailAndAwait(*job, served.error());
  job->LeaveAfter(served.error());
  return served;
}

}  // namespace slimgraph
