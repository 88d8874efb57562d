// The fabric over TCP sockets: works between any machines, and is the reference that RDMA is
// compared with.
#pragma once

#include <memory>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

// Collective. Each node may open the endpoints 0 .. endpoints-1. `job` outlives the transport.
Result<std::unique_ptr<Transport>> MakeTcpTransport(Job& job, const FabricOptions& options);

}  // namespace slimgraph
