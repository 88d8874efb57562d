// A job of N processes for a test, forked without mpiexec. Each process runs the same body as one
// node.
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
  std::string output;  // standard output and error of all nodes, in order of arrival

  bool all_succeeded() const;
};

// What the job's nodes are told besides their numbers. A simulation leaves it out.
struct JobTraits {
  bool encrypts = false;
  Quota quota = {};
  std::string host_cache = {};
};

// Runs `body` on every node. A node that fails an EXPECT or ASSERT, or whose body throws, ends with
// code 1. After `limit_s`, all nodes are killed.
NodesEnd RunNodes(NodeId nodes, OnLoss on_loss, const std::function<void(Job&)>& body,
                  int limit_s = 60, const JobTraits& traits = {});

// Like RunNodes, and fails the calling test if any node fails.
void ExpectNodesRun(NodeId nodes, const std::function<void(Job&)>& body, int limit_s = 60,
                    const JobTraits& traits = {});

// Waits until a process has ended and its files are closed, even if its parent has not waited for
// it yet.
void AwaitEnd(pid_t process);

}  // namespace slimgraph
