// The fabric over any MPI library. It is active-message RMA: a thread of the target takes part in
// every operation, since MPI's own one-sided calls are not passive without an adapter for it.
#pragma once

#include <memory>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

// Collective. Each node may open the endpoints 0 .. endpoints-1. `job` outlives the transport. Sets
// UCX_TLS and its like in the environment where they are not set.
Result<std::unique_ptr<Transport>> MakeMpiTransport(Job& job, const FabricOptions& options);

}  // namespace slimgraph
