// The sockets of this machine, through libnuma. On a machine with one socket all calls do nothing.
#pragma once

#include <cstdint>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// The number of sockets with memory that this process may use; 1 without NUMA support.
std::uint32_t SocketCount();

// Pages of `bytes` that are first touched from now on come from the socket's memory. Only whole
// pages are bound: pages that `bytes` covers only partly, at its two ends, stay unbound.
Status BindMemory(MutableBytes bytes, std::uint32_t socket);

// Makes the calling thread run on the socket's processors from now on.
Status RunOnSocket(std::uint32_t socket);

}  // namespace slimgraph
