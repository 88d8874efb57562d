// The sockets of this machine, through libnuma. Everything is a no-op where there is but one.
#pragma once

#include <cstdint>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// Sockets with memory that this process may use; 1 where the system knows no NUMA.
std::uint32_t SocketCount();

// Pages of `bytes` that are touched from now on come from the socket's memory. Only whole pages can
// be bound: those at the ends that `bytes` shares with others keep their place.
Status BindMemory(MutableBytes bytes, std::uint32_t socket);

// The calling thread runs on the socket's processors from now on.
Status RunOnSocket(std::uint32_t socket);

}  // namespace slimgraph
