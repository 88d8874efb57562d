// Makes the leaves of an ordered table when it is loaded. Each node brings some of the keys. They
// are sorted across the nodes, so that no node needs memory for all keys. The leaves are the same
// for any number of nodes: logs have leaves, and may be continued on other nodes.
#pragma once

#include <span>
#include <vector>

#include "slimgraph/cluster/collectives.h"
#include "txnlayer/ordered/internal/leaf.h"

namespace slimgraph::txn {

// Loaded leaves have room for some more keys.
constexpr std::uint64_t kLoadedKeys = 12;

// Collective: sorts the keys of all members. Each gets a part of them, in order, whose keys are
// larger than those of the members before. A leaf's keys are in one part.
Result<std::vector<Key>> SortAcross(Collectives& members, std::vector<Key> mine);

// Collective: makes the leaves of the member's part, which SortAcross() has returned. If there are
// no keys, the first member makes an empty leaf.
Result<std::vector<Leaf>> LeavesAcross(Collectives& members, std::span<const Key> sorted);

}  // namespace slimgraph::txn
