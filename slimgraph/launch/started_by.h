// Who started this process: a person, or a launcher that started others beside it.
#pragma once

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

enum class Starter { kNobody, kPmi };

Starter StartedBy();

// How many processes the launcher started; 1 where there is none.
NodeId StartedNodes();

// This process's number among them, also under a launcher that we refuse; 0 where there is none.
NodeId StartedRank();

// Refuses a launcher that starts copies but tells them nothing we understand: each would take
// itself for the whole job.
Status CheckLaunch();

}  // namespace slimgraph
