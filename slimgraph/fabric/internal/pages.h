// Zeroed memory of this process alone, in whole pages, for transports that copy it to the wire.
#pragma once

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

Result<RegionMemory> AllocatePages(std::uint64_t bytes);
void FreePages(const RegionMemory& memory);
// Any memory of whole pages: it reads as zeros from here on, and takes none until it is written.
// `advice`: what brings that about, MADV_DONTNEED for private memory, MADV_REMOVE for a file's.
void DiscardPages(const RegionMemory& memory, int advice);

}  // namespace slimgraph
