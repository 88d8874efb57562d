// Limits on what each node of a local job may use of this machine. With them, a node has the same
// processor time and memory, however many of the nodes compute. Each node gets a control group, of
// version 1 or 2.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// A process of ours does not start in less memory.
constexpr std::uint64_t kLeastNodeMemoryBytes = 1 << 20;

struct NodeLimits {
  std::uint32_t cpu_percent = 0;   // percent of one processor; 0: no limit
  std::uint64_t memory_bytes = 0;  // a node that uses more is killed; 0: no limit

  bool any() const { return cpu_percent != 0 || memory_bytes != 0; }
};

// The control groups of one job, which exist as long as this object. The process that makes them
// starts the nodes and outlives them.
class NodeGroups {
 public:
  // Returns an error that says why if this process may not make groups.
  static Result<NodeGroups> Make(NodeId nodes, const NodeLimits& limits);

  NodeGroups(NodeGroups&&) noexcept = default;
  NodeGroups& operator=(NodeGroups&&) = delete;
  ~NodeGroups();

  // Nodes that this process starts after this call find their groups in the environment.
  void Announce() const;

 private:
  NodeGroups() = default;
  Status Add(const std::string& controller, NodeId nodes, const NodeLimits& limits);

  std::vector<std::string> folders_;  // one for each hierarchy
  std::uint64_t memory_bytes_ = 0;
};

// For control groups of version 2, mounted at `mount`: the nearest group from `own` upwards whose
// child groups can be limited by all of these controllers. The error says why each group was
// rejected.
Result<std::string> ParentOfLimitedGroups(const std::string& mount, const std::string& own,
                                          const std::vector<std::string>& controllers);

// Whether this process is a node of a job whose launcher has made control groups.
bool OfLimitedNodes();

// Called on a node before it allocates anything: enters the node's groups, if there are any.
Status EnterNodeGroups(NodeId node);

// What is known about the death of a node of this job that ended without a report.
std::string CauseOfDeath(NodeId node);

}  // namespace slimgraph
