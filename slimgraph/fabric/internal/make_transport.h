// The transports by name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

// Collective.
Result<std::unique_ptr<Transport>> MakeTransport(Job& job, const FabricOptions& options);

}  // namespace slimgraph
