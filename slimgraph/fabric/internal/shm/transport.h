// The transport of one machine: every node maps the regions of all others. A read copies, as an
// adapter would; memory nodes take no part in it.
#pragma once

#include <memory>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

Result<std::unique_ptr<Transport>> MakeShmTransport(Job& job, const FabricOptions& options);

}  // namespace slimgraph
