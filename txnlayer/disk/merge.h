// Merges a base and updates into a new base.
#pragma once

#include <string>
#include <vector>

#include "txnlayer/disk/store.h"

namespace slimgraph::txn {

struct Merged {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool has_properties = false;  // whether a file of properties was written
};

// Writes the graph as of the time `at`, with all batches up to it. `properties`: the file for the
// properties of vertices and edges; "": they are not written. If they are, the result is a base
// that survives a power failure on return.
Result<Merged> Merge(const DiskBase& base, const GraphShape& shape,
                     const std::vector<Batch>& batches, GraphTime at, const std::string& lists,
                     const std::string& properties);

}  // namespace slimgraph::txn
