// The agent of a host's cache (fabric/host_cache.h): a process that keeps copies of one graph of a
// pool, or of one view of it, for all jobs on this host. It attaches to the pool as a job does. The
// first job that needs it starts it; it ends with the graph, or with the pool.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/pool/descriptor.h"

namespace slimgraph {

// The words that make the command an agent, or a deputy in the agent's job.
constexpr const char* kPoolCacheCommand = "pool-cache";

// What an agent is for.
struct CachedGraph {
  std::string pool = {};
  std::string graph = {};
  std::string view = {};  // "": the graph as it was loaded
  std::string id = {};    // of its load
  // The node of the pool whose host is imitated; nothing: this host is meant.
  std::optional<NodeId> host_of = {};
};

// Where the agent answers on this host. Starts `program` as the agent if none is there; "" if that
// fails, since a job can do without.
std::string FindCacheAgent(const PoolDescriptor& pool, const CachedGraph& graph,
                           const std::string& program);

// Runs what the environment describes: an agent, or a deputy of one. Ends the process with the
// job, and returns only an error.
Status ServePoolCache();

}  // namespace slimgraph
