// A .slim file for a graph in any format: made once, and kept for later uses. It lies beside the
// graph under a hidden name or, where that folder cannot be written, in the user's cache folder
// ($XDG_CACHE_HOME, or ~/.cache). Its name contains the size, the time of change and the inode of
// the graph's file, so a graph that has changed is converted again; then the old .slim file is
// removed.
#pragma once

#include <optional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/files/convert.h"

namespace slimgraph {

// Whether the file is a .slim graph, by its name or by its first bytes.
bool IsSlimFile(const std::string& path);

struct CachedGraph {
  std::string path;                        // the .slim file
  std::optional<ConvertReport> converted;  // if this call made it
};

// `how` says which graph and how to convert it; its `out` does not matter. If several processes ask
// for the same graph at once, one converts it, and the others wait. The .slim file appears when it
// is complete.
Result<CachedGraph> FindOrConvert(ConvertOptions how);

}  // namespace slimgraph
