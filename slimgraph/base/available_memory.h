// How much memory this machine has left. A caller checks before it allocates, so that it can return
// an error instead of being killed.
#pragma once

#include <cstdint>
#include <string>

#include "slimgraph/base/result.h"

namespace slimgraph {

// The memory that this process may still allocate: the smaller of the machine's free memory and
// what its control groups' limits leave.
std::uint64_t AvailableMemory();

// Checks that `bytes` more can be allocated on this machine. The error names `purpose`, the bytes
// needed, the bytes available, and what to do.
Status CheckMemory(std::uint64_t bytes, const std::string& purpose);

// The memory that this node may still take: an equal share of AvailableMemory() for each of the
// nodes on this machine, and no more than its own limit leaves.
std::uint64_t MemoryLeftForNode(std::size_t nodes_here);

// How many addresses this process can reserve now, of those wanted. `ulimit -v` limits them, and so
// do tools that watch a process's memory.
std::uint64_t AddressesLeft(std::uint64_t wanted);

// The memory limit that the launcher has announced to each of its nodes; 0 means no limit.
std::uint64_t NodeMemoryLimit();
void AnnounceNodeMemoryLimit(std::uint64_t bytes);

}  // namespace slimgraph
