#include "slimgraph/session/memory_node.h"

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/launch/place.h"
#include "slimgraph/launch/started_by.h"
#include "slimgraph/pool/attach.h"
#include "slimgraph/session/internal/algorithm.h"
#include "slimgraph/session/internal/mining.h"
#include "slimgraph/session/internal/open_graph.h"
#include "slimgraph/session/internal/open_store.h"

namespace slimgraph {
namespace {

using internal::Call;
using internal::OpenGraphs;

Result<std::unique_ptr<Job>> JoinSession(bool computes) {
  const char* const command = computes ? kComputeNodeCommand : kMemoryNodeCommand;
  SLIM_ASSIGN(const auto place, TakePlace());
  if (place && ((place->node < place->compute) != computes || place->node == 0)) {
    return UsageError("{} does not name a {}", kJoinVariable, command);
  }
  if (place) return Job::Join(place->Config(), OnLoss::kReport);
  if (computes || StartedBy() == Starter::kNobody) {
    return UsageError("{} is started by a session, not by hand", command);
  }
  if (StartedRank() == 0) {
    return UsageError("{}: node 0 of a session is its program, not a memory node", command);
  }
  return Job::JoinFromEnvironment(PmiUse::kFormJob, OnLoss::kReport);
}

// The loaded lists for which a memory node answers between calls.
std::vector<internal::VertexLists*> ServedLists(const OpenGraphs& graphs) {
  std::vector<internal::VertexLists*> served;
  for (const auto& [number, graph] : graphs) {
    for (const bool both : {false, true}) {
      internal::VertexLists* const lists = graph->lists(both);
      if (lists == nullptr) continue;
      if (lists->request().cluster.cache.side != MemorySide::kStrict) served.push_back(lists);
    }
  }
  return served;
}

// Waits for the next call. Meanwhile it answers for `served`. The wait is on a thread of its own,
// because this one polls the lists' endpoint.
Result<Call> AwaitCallServing(Job& job, std::span<internal::VertexLists* const> served) {
  if (served.empty()) return internal::AwaitCall(job);
  internal::VertexLists& lists = *served.front();
  std::optional<Result<Call>> call;
  SLIM_TRY(lists.work().ServeWhile([&]() -> Status {
    Endpoint& endpoint = lists.cluster().fabric().endpoint(0);
    std::atomic<bool> called{false};
    Thread waiting([&] {
      call = AwaitCallServing(job, served.subspan(1));
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

Status Serve(Job& job, OpenGraphs& graphs, internal::OpenStores& stores,
             std::span<const std::unique_ptr<SharedMemory>> standing, bool computes) {
  while (true) {
    const auto call =
        computes ? internal::AwaitCall(job) : AwaitCallServing(job, ServedLists(graphs));
    if (!call) {
      // Compute nodes that make different calls, and a call that node 0 cannot make, get an error
      // and go on.
      if (job.all_alive()) continue;
      return tl::unexpected<Error>(call.error());
    }
    SLIM_ASSIGN(const auto refusal,
                internal::DoOnEveryNode(job, *call, graphs, standing, computes));
    if (refusal) continue;
    SLIM_ASSIGN(const auto of_store, internal::DoOnStores(job, *call, stores, graphs, computes));
    if (of_store) continue;
    if (call->task == internal::Task::kMine) {
      SLIM_TRY(internal::MineForNode0(job, graphs, *call));
    } else if (computes && !call->algorithm.empty()) {
      const auto algorithm = internal::Algorithm::FromBytes(call->algorithm);
      SLIM_TRY(internal::RunAlgorithm(*graphs.at(call->graph), algorithm));
    }
    if (call->task == internal::Task::kEnd) return {};
  }
}

}  // namespace

Status ServeSession(bool computes) {
  SLIM_ASSIGN(const auto part, TakeStandingPart());
  SLIM_ASSIGN(const auto job, JoinSession(computes));
  SLIM_TRY(internal::AgreeOnVersion(*job, internal::VersionOfCalls()));
  OpenGraphs graphs;
  internal::OpenStores stores;
  const std::vector<std::unique_ptr<SharedMemory>> none;
  const Status served = Serve(*job, graphs, stores, part ? part->memories : none, computes);
  if (served) return job->Leave(0);
  if (job->all_alive()) internal::FailAndAwait(*job, served.error());
  job->LeaveAfter(served.error());
  return served;
}

}  // namespace slimgraph
