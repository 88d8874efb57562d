// Conversations with all nodes of a pool.
#pragma once

#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/pool/internal/conversation.h"

namespace slimgraph::internal {

// An error if the pool is of another version of SlimGraph, whose lists may differ.
Status CheckVersion(const PoolDescriptor& pool);
NodeId CountRunning(const PoolDescriptor& pool);
// In the order of the nodes. An error if one of them has ended.
Result<std::vector<Conversation>> OpenAll(const PoolDescriptor& pool);
// Returns once all these nodes have the view, which those that lack it make now.
Status MakeView(std::vector<Conversation>& nodes, const std::string& graph,
                const std::string& view);

}  // namespace slimgraph::internal
