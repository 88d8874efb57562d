// The transports by name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

// Collective.
Result<std::unique_ptr<Transport>> MakeTransport(std::string_view name, Job& job,
                                                 std::uint32_t endpoints);

}  // namespace slimgraph
