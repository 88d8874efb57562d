// Who started this process: a user, or a launcher that also started others.
#pragma once

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

enum class Starter { kNobody, kPmi };

Starter StartedBy();

// How many processes the launcher started; 1 without a launcher.
NodeId StartedNodes();

// This process's rank among them, also under a launcher that we refuse; 0 without a launcher.
NodeId StartedRank();

// From here on, this process and those that it starts belong to no launcher.
void ForgetLauncher();

// Refuses a launcher that starts copies without PMI: each copy would run the whole job by itself.
Status CheckLaunch();

}  // namespace slimgraph
