// The limit on open files of the processes of a local job.
#pragma once

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// Raises this process's limit, which its children inherit, as far as the system permits. An error
// if a job of `nodes` local nodes cannot work with it.
Status AllowOpenFiles(NodeId nodes);

}  // namespace slimgraph
