// What `slimgraph info` tells a person. The work itself is Inspect in slimgraph/graph/.
#pragma once

#include <string>

#include "slimgraph/graph/inspect.h"

namespace slimgraph {

std::string FormatInfo(const InfoReport& report);

}  // namespace slimgraph
