#include "slimgraph/session/memory_node.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "slimgraph/base/split.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/launch/started_by.h"
#include "slimgraph/session/internal/mining.h"
#include "slimgraph/session/internal/open_graph.h"

namespace slimgraph {
namespace {

using internal::Call;
using internal::OpenGraphs;

Result<std::unique_ptr<Job>> JoinSession() {
  const char* const text = std::getenv(kJoinVariable);
  if (text == nullptr) {
    if (StartedBy() == Starter::kNobody) {
      return UsageError("{} is started by a session, not by hand", kMemoryNodeCommand);
    }
    if (StartedRank() == 0) {
      return UsageError("{}: node 0 of a session is its program, not a memory node",
                        kMemoryNodeCommand);
    }
    return Job::JoinFromEnvironment(PmiUse::kFormJob, OnLoss::kReport);
  }
  const std::string joins = text;
  ::unsetenv(kJoinVariable);  // it has the secret
  const auto words = Split(joins, ' ');
  const auto number = [&](std::size_t i) {
    return static_cast<NodeId>(std::max(0, std::atoi(std::string(words[i]).c_str())));
  };
  if (words.size() != 4 || number(0) == 0 || number(0) >= number(1) || number(1) > kMaxNodes) {
    return UsageError("{} does not name a node: it is set by a session, not by hand",
                      kJoinVariable);
  }
  return Job::Join({.self = number(0),
                    .nodes = number(1),
                    .listener = {},
                    .hub_address = std::string(words[2]),
                    .secret = std::string(words[3])},
                   OnLoss::kReport);
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

Status Serve(Job& job, OpenGraphs& graphs) {
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
  const Status served = Serve(*job, graphs);
  if (served) return job->Leave(0);
  if (job->all_alive()) internal::FailAndAwait(*job, served.error());
  job->LeaveAfter(served.error());
  return served;
}

}  // namespace slimgraph
