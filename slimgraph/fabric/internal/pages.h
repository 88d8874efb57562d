// Zeroed memory of this process alone, in whole pages, for transports that copy it to the wire.
#pragma once

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

Result<RegionMemory> AllocatePages(std::uint64_t bytes);
void FreePages(const RegionMemory& memory);

}  // namespace slimgraph
