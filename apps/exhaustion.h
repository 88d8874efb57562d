// Ends the process when it runs out of memory or threads. No code catches such an exception. The
// terminate handler prints one line and exits with code 4, whichever thread or coroutine threw. If
// the process is a node, the whole job ends.
#pragma once

#include "slimgraph/launch/job.h"

namespace slimgraph {

// Installs the terminate handler, for all threads of this process.
void EndProcessWhenExhausted();

// While this lives, the process is a node of `job`.
class NodeScope {
 public:
  explicit NodeScope(Job& job);
  NodeScope(const NodeScope&) = delete;
  NodeScope& operator=(const NodeScope&) = delete;
  ~NodeScope();
};

}  // namespace slimgraph
