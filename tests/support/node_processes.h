// A job of N processes for a test, forked without mpiexec: each runs the same body as one node.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "slimgraph/launch/job.h"

namespace slimgraph {

// How the processes ended: exit code, or 128 + signal.
struct NodesEnd {
  std::vector<int> codes;
  std::string output;  // what they wrote to standard error, in order of arrival

  bool all_well() const;
};

// Runs `body` on every node. A node that fails an EXPECT or ASSERT, or whose body throws, ends with
// code 1. All are killed after `limit_s`.
NodesEnd RunNodes(NodeId nodes, OnLoss on_loss, const std::function<void(Job&)>& body,
                  int limit_s = 60);

// The same, and fails the calling test where any node failed.
void ExpectNodesRun(NodeId nodes, const std::function<void(Job&)>& body, int limit_s = 60);

// Waits until a process has closed all that it had, whether or not its parent has waited for it.
void AwaitEnd(pid_t process);

}  // namespace slimgraph
