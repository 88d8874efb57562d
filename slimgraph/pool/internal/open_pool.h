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
// With one node for each part, in order: the first of those with a copy that can be reached, so a
// node may be there twice. An error if there is none for a part.
Result<std::vector<Conversation>> OpenForParts(const PoolDescriptor& pool);
// The answers of all, who were asked before, in the order of the nodes. May take any time, in which
// the leases of what they hold for this client are renewed.
Result<std::vector<Words>> AwaitAll(std::vector<Conversation>& nodes);
// Returns once all these nodes have the view, which those that lack it make now.
Status MakeView(std::vector<Conversation>& nodes, const std::string& graph,
                const std::string& view);

}  // namespace slimgraph::internal
