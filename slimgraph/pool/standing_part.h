// The part of a graph that one node of a pool keeps: memory that outlives jobs. A loader, a process
// that the node starts for each load, fills and seals it. Jobs map it only for reading.
#pragma once

#include <functional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/remote/standing_graph.h"

namespace slimgraph {

// The words that make the command a loader: `slimgraph pool-loader FILE SHOWN NODE NODES VIEW`.
constexpr const char* kPoolLoaderCommand = "pool-loader";

// Part `node` of `nodes` of a graph's file, which messages call `shown`, in the form that `view`
// names; "": as vertex programs read it.
struct PartToLoad {
  std::string file;
  std::string shown;
  NodeId node = 0;
  NodeId nodes = 0;
  std::string view;
};
using PartLoader = std::function<Result<StandingPart>(const PartToLoad&)>;

// What a loader runs: loads the part, seals its memories, and passes them to the pool's node. An
// error has been passed on as well.
Status ServeLoading(const PartToLoad& part, const PartLoader& load);

}  // namespace slimgraph
