// The tasks of a run, shared among the threads of all compute nodes. Each node has its own tasks,
// which its threads claim one by one. A thread whose node has none left takes from the node that
// has most left. A claim is a fetch-and-add on a counter at the node that owns the tasks, so no
// task is done twice.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "dkudu/continuation.h"
#include "dkudu/internal/kernel/root_task.h"
#include "dkudu/mining_job.h"
#include "slimgraph/base/sync.h"

namespace slimgraph::dkudu {

class TaskShare {
 public:
  // The memory that the lists of all nodes' tasks take.
  static std::uint64_t Bytes(const MiningGraph& graph) {
    const std::uint64_t tasks = graph.vertices() / RootTask::kMaxRoots + 1;
    const std::uint64_t rests = 2 * (graph.vertices() / 8 + 1);  // one is taken over, one is left
    return 2 * tasks * (sizeof(RootTask) + sizeof(std::uint64_t)) + rests;
  }

  // Collective. `may_slice`: several engines may work on a root of huge degree. `continuation`: the
  // tasks are those that were left at the last stop, and may be left in turn; null: they are all
  // tasks, and are all done.
  static Result<std::unique_ptr<TaskShare>> Make(MiningJob& job, bool may_slice,
                                                 Continuation* continuation = nullptr);

  // Claims a task for a thread of a compute node; nothing when no task is left for it.
  Result<std::optional<RootTask>> ClaimTask(Endpoint& endpoint);

  // For one of many passes: a claim then does not tell the job how far it is.
  void HideProgress() { tells_progress_ = false; }

  std::uint64_t stolen() const { return stolen_; }

  // On node 0, after a stop: the tasks that nobody has claimed.
  Result<Continuation::Words> Rest();

 private:
  struct Share {
    // Not a flag for one call: that reads a thread-local variable of libstdc++, which a shared
    // object that is loaded late cannot have at a fixed place (see SHARED in make/toolchain.mk).
    Mutex mutex;
    std::atomic<bool> listed{false};
    std::vector<RootTask> tasks;
    std::vector<std::uint64_t> left;  // neighbours of the roots of this task and all later ones
    std::atomic<bool> exhausted{false};
  };
  TaskShare(const MiningJob& job, bool may_slice, Continuation* continuation);
  Share& ShareOf(NodeId node);
  Result<std::uint64_t> ClaimIndex(Endpoint& endpoint, NodeId node) const;
  // Tells the job how far it is, and stops all claims if that is asked.
  Status Note(Endpoint& endpoint, const Share& own, std::uint64_t next);
  Result<std::optional<NodeId>> NodeWithMostLeft(Endpoint& endpoint);

  Job& job_;
  const MiningGraph& graph_;
  const Endpoint& first_;  // thread 0's
  Continuation* continuation_;
  std::optional<RestOfRoots> rest_;     // at the last stop; nullopt: all roots are left
  std::vector<std::uint64_t> left_at_;  // on node 0: how many tasks of each node were claimed
  bool may_slice_;
  bool steal_;
  bool tells_progress_ = true;
  std::uint32_t threads_;
  JobRegions::Lease counters_;
  std::vector<Share> shares_;  // by compute node
  std::atomic<std::uint64_t> stolen_{0};
};

}  // namespace slimgraph::dkudu
