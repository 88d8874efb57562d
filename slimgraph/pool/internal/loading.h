// How a node of a pool gets a graph: a child process loads the node's part and passes its memory
// back. So a loader that fails, or is killed for want of memory, does not harm the node.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/pool/standing_part.h"

namespace slimgraph::internal {

struct LoadedPart {
  std::string facts;
  std::vector<UniqueFd> memories;
  std::uint64_t bytes = 0;
};

// Kills the loader once `client` becomes readable: the client has left.
Result<LoadedPart> RunLoader(const PartToLoad& part, int client);

// Tells apart the states of a file: its size, inode and time of change.
Result<std::string> StampOfFile(const std::string& path);

}  // namespace slimgraph::internal
