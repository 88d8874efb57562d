// Checkpoints keep logs short if nothing is folded. When the commits in the logs take much more
// room than the tables, all nodes stop transactions for a moment and write their tables into new
// logs. Then they remove the old logs. (Folds of graphs begin new logs by themselves.)
#pragma once

#include <cstdint>
#include <memory>

#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/cluster.h"

namespace slimgraph::txn {

class Engine;

class Checkpointer {
 public:
  // The engine must keep logs. A checkpoint is made when these have more than `least_bytes` on all
  // nodes together, and more than the tables use.
  Checkpointer(Engine& engine, std::uint64_t least_bytes)
      : engine_(engine), least_bytes_(least_bytes) {}
  ~Checkpointer();

  // Call before a run. A thread then watches the length of the logs.
  void Start();
  // Call after the run has ended on this node. Waits for all other nodes.
  Status Finish();

  // The number of checkpoints in the run.
  std::uint64_t checkpoints() const { return checkpoints_; }

 private:
  Status Work();
  Status WorkAmong(Job& job);
  Result<bool> LogsAreLong(bool& over);
  Status Checkpoint();
  Status SwitchLogs(bool& taken);

  Engine& engine_;
  const std::uint64_t least_bytes_;
  std::unique_ptr<Cluster> cluster_;  // of the live nodes
  std::uint64_t checkpoints_ = 0;
  Thread thread_;
  Status done_;
};

}  // namespace slimgraph::txn
