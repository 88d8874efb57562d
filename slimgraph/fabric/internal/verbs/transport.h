// The fabric over RDMA verbs: InfiniBand, RoCE, or any other device of libibverbs. Operations on a
// node's memory take no processor of it.
#pragma once

#include <memory>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

// Collective. Each node may open the endpoints 0 .. endpoints-1. `job` outlives the transport.
Result<std::unique_ptr<Transport>> MakeVerbsTransport(Job& job, const FabricOptions& options);

}  // namespace slimgraph
