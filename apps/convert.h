// What `slimgraph convert` and `slimgraph gen` tell a person when they are done. The work itself is
// Convert and Generate in slimgraph/graph/.
#pragma once

#include <string>

#include "slimgraph/graph/convert.h"

namespace slimgraph {

std::string FormatConvert(const ConvertReport& report);

}  // namespace slimgraph
