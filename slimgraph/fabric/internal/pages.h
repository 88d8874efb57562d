// Zeroed memory, private to this process, in whole pages. For transports that copy it to the wire.
#pragma once

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

Result<RegionMemory> AllocatePages(std::uint64_t bytes);
void FreePages(const RegionMemory& memory);
// Discards the contents of any memory in whole pages: it reads as zeros afterwards, and uses no
// physical memory until it is written. `advice` is MADV_DONTNEED for private memory and MADV_REMOVE
// for a file's memory.
void DiscardPages(const RegionMemory& memory, int advice);

}  // namespace slimgraph
