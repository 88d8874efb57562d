// The tasks of a run, shared out among the threads of all compute nodes. Each node has its own,
// which its threads claim one by one; a thread that finds none left takes from the node that has
// most left. A claim is a fetch-and-add on a counter at the node whose tasks they are, so that
// nobody works on what another does.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "dkudu/kernel/root_task.h"
#include "dkudu/mining_job.h"

namespace slimgraph {

class TaskShare {
 public:
  // Collective. `may_slice`: a root of huge degree may be worked on by several.
  static Result<std::unique_ptr<TaskShare>> Make(MiningJob& job, bool may_slice);

  // For any thread of a compute node: nothing when there is no more to do for it.
  Result<std::optional<RootTask>> Next(Endpoint& endpoint);

  std::uint64_t stolen() const { return stolen_; }

 private:
  struct Share {
    std::once_flag listed;
    std::vector<RootTask> tasks;
    std::vector<std::uint64_t> left;  // neighbours of the roots of this task and all after it
    std::atomic<bool> exhausted{false};
  };
  TaskShare(const MiningJob& job, bool may_slice);
  Share& ShareOf(NodeId node);
  Result<std::uint64_t> Claim(Endpoint& endpoint, NodeId node) const;
  Result<std::optional<NodeId>> FurthestBehind(Endpoint& endpoint);

  const MiningGraph& graph_;
  bool may_slice_;
  bool steal_;
  std::uint32_t threads_;
  RegionId counters_ = 0;
  std::vector<Share> shares_;  // by compute node
  std::atomic<std::uint64_t> stolen_{0};
};

}  // namespace slimgraph
