// A base with updates becomes another base.
#pragma once

#include <string>
#include <vector>

#include "txnlayer/disk/store.h"

namespace slimgraph::txn {

struct Merged {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool has_properties = false;  // that there is a file of them
};

// Writes the graph as it was after all batches of times up to `at`. `properties`: where to put what
// vertices and edges carry; "": nowhere.
Result<Merged> Merge(const DiskBase& base, const GraphShape& shape,
                     const std::vector<Batch>& batches, GraphTime at, const std::string& lists,
                     const std::string& properties);

}  // namespace slimgraph::txn
