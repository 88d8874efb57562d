// What each node of a local job may take of this machine, so that a node has the same processor
// and memory however many of them compute: a control group for each, of version 1 or 2.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

struct NodeLimits {
  std::uint32_t cpu_percent = 0;   // of one processor; 0: no limit
  std::uint64_t memory_bytes = 0;  // beyond, the system ends the node; 0: no limit

  bool any() const { return cpu_percent != 0 || memory_bytes != 0; }
};

// The groups of one job, which are there as long as this object. What makes them starts the nodes
// and outlives them.
class NodeGroups {
 public:
  // An error where this process may not make groups, which says why.
  static Result<NodeGroups> Make(NodeId nodes, const NodeLimits& limits);

  NodeGroups(NodeGroups&&) noexcept = default;
  NodeGroups& operator=(NodeGroups&&) = delete;
  ~NodeGroups();

  // Nodes that this process starts from now on find their groups.
  void Announce() const;

 private:
  NodeGroups() = default;
  Status Add(const std::string& controller, NodeId nodes, const NodeLimits& limits);

  std::vector<std::string> folders_;  // one for each hierarchy
  std::uint64_t memory_bytes_ = 0;
};

// Whether this process is a node of a job whose launcher has made groups.
bool OfLimitedNodes();

// On a node, before it takes anything: enters its groups, if there are any.
Status EnterNodeGroups(NodeId node);

// Of this job's nodes, each; 0: no limit.
std::uint64_t NodeMemoryLimit();

// What is known of the death of a node of this job that has told nothing.
std::string CauseOfDeath(NodeId node);

}  // namespace slimgraph
