// What a node of a pool keeps and who uses it. Thread-safe: each client has a thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/pool/status.h"

namespace slimgraph::internal {

// One load of a graph. Its memory is freed once nobody uses it: the pool has dropped it, and the
// jobs that use it have ended.
struct KeptGraph {
  KeptGraphStatus what;
  std::vector<UniqueFd> memories;
};
using SharedGraph = std::shared_ptr<const KeptGraph>;

class NodeState {
 public:
  explicit NodeState(std::uint64_t memory_bytes);

  // The name is taken from here on, until Keep() or Abandon().
  Status BeginLoad(const KeptGraphStatus& what);
  // The graph counts against the limit from here on, but jobs do not find it yet. An error if it
  // does not fit.
  Status HoldLoaded(KeptGraph graph);
  // Jobs find the graph from here on.
  void Keep(const std::string& name);
  void Abandon(const std::string& name);

  Result<SharedGraph> Find(const std::string& name) const;
  Status Drop(const std::string& name);

  // Returns the number by which the job is known, or an error if the node is about to stop.
  Result<std::uint64_t> AddJob(AttachedJobStatus job);
  void SetDeputy(std::uint64_t number, pid_t deputy);
  // Called before the deputy is reaped, so that its process number is still its own.
  void RemoveJob(std::uint64_t number);

  // No job can attach from here on. An error if jobs are attached or graphs are being loaded.
  Status HoldStill();
  void GoOn();
  void KillDeputies();

  PoolNodeStatus Describe() const;

 private:
  struct Job {
    AttachedJobStatus what;
    std::uint64_t since_ns;
  };
  std::uint64_t UsedBytes() const;

  const std::uint64_t memory_bytes_;
  const std::uint64_t since_ns_;
  mutable Mutex mutex_;
  std::map<std::string, SharedGraph> graphs_;
  std::vector<std::weak_ptr<const KeptGraph>> dropped_;  // jobs may still use them
  std::map<std::uint64_t, Job> jobs_;
  std::uint64_t last_job_ = 0;
  bool holds_still_ = false;
};

}  // namespace slimgraph::internal
