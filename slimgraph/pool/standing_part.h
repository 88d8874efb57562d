// The part of a graph that one node of a pool keeps: memory that outlives jobs. A loader, a process
// that the node starts for each load, fills and seals it. Jobs map it only for reading.
#pragma once

#include <functional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/remote/standing_graph.h"

namespace slimgraph {

// The words that make the command a loader: `slimgraph pool-loader FILE SHOWN NODE NODES`.
constexpr const char* kPoolLoaderCommand = "pool-loader";

// Loads part `node` of `nodes` of a graph's file, which messages call `shown`.
using PartLoader = std::function<Result<StandingPart>(
    const std::string& file, const std::string& shown, NodeId node, NodeId nodes)>;

// What a loader runs: loads the part, seals its memories, and passes them to the pool's node. An
// error has been passed on as well.
Status ServeLoading(const std::string& file, const std::string& shown, NodeId node, NodeId nodes,
                    const PartLoader& load);

}  // namespace slimgraph
