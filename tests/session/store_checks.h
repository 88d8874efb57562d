// Transactions on a GraphStore, from several threads of each compute node, compared with plain
// serial code and judged by the checker of histories.
#pragma once

#include <cstdint>
#include <string>

#include "slimgraph/session/graph_store.h"

namespace slimgraph::test {

// On all compute nodes of a session alike. The store is made in `folder`, which all of them share.
// Random changes of edges and vertices. What is in the store in the end, before and after it is
// opened again, is what the commits make one after the other in the order of their times.
void CheckChanges(Session& session, const std::string& folder, const std::string& protocol,
                  std::uint64_t seed);
// Lists as neighbours, to which transactions append and which they read.
void CheckHistory(Session& session, const std::string& folder, const std::string& protocol,
                  std::uint64_t seed);
// Money is moved between vertices while read-only transactions count all of it, and edges are added
// unless an end has reached a limit.
void CheckInvariants(Session& session, const std::string& folder, const std::string& protocol,
                     std::uint64_t seed);
// Algorithms, programs and patterns on a snapshot, compared with the same on a graph of its edges.
void CheckSnapshots(Session& session, const std::string& folder, std::uint64_t seed);

}  // namespace slimgraph::test
