// Factories of the transports. All of them are collective. Each node may open the endpoints 0 ..
// endpoints-1. `job` must outlive the transport.
#pragma once

#include <memory>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

// Makes the transport that `options` names.
Result<std::unique_ptr<Transport>> MakeTransport(Job& job, const FabricOptions& options);

// For one machine: every node maps the regions of all other nodes. A read copies, as an adapter
// would, and the target's processor takes no part in it.
Result<std::unique_ptr<Transport>> MakeShmTransport(Job& job, const FabricOptions& options);

// Over TCP sockets: works between any machines, and is the reference that RDMA is compared with.
Result<std::unique_ptr<Transport>> MakeTcpTransport(Job& job, const FabricOptions& options);

// Over any MPI library. A thread of the target executes every operation, because MPI's one-sided
// calls are not passive without an adapter that supports them. Sets UCX_TLS and similar variables
// in the environment unless they are set.
Result<std::unique_ptr<Transport>> MakeMpiTransport(Job& job, const FabricOptions& options);

#ifdef SLIMGRAPH_SIM
// Between the nodes of a simulation: whatever the contract of the endpoints allows happens.
Result<std::unique_ptr<Transport>> MakeSimTransport(Job& job, const FabricOptions& options);
// The same, but messages travel as datagrams that get lost, through the mailboxes of verbs.
Result<std::unique_ptr<Transport>> MakeSimDatagramTransport(Job& job, const FabricOptions& options);
#endif

// Over RDMA verbs: InfiniBand, RoCE, or any other device of libibverbs. Operations on a node's
// memory do not use its processor.
Result<std::unique_ptr<Transport>> MakeVerbsTransport(Job& job, const FabricOptions& options);

}  // namespace slimgraph
