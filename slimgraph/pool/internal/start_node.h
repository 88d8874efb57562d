// How the process of a node of a pool starts and ends, on this machine or on another host.
#pragma once

#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/pool/descriptor.h"
#include "slimgraph/pool/internal/node_place.h"

namespace slimgraph::internal {

// Starts node `node` of a pool where `pool.nodes[node].host` says; `program` is the slimgraph
// command, under this path on every host. Replaces the node's entry. On another host, an earlier
// process of the node that still runs there is killed first. `log`: for a node on this machine.
Status StartNode(PoolDescriptor& pool, NodeId node, const std::string& program,
                 const std::string& log);

// The path of a program on all hosts, which "/proc/self/exe" is not.
std::string PathOf(const std::string& program);
// As one word of the shell.
std::string Quoted(const std::string& text);

// Kills the node's process if it has not ended, and waits for its end.
Status EndNode(const PoolNodeAddress& node, const std::string& program);

}  // namespace slimgraph::internal
