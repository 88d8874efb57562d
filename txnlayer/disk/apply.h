// Applies a file of updates to a store, in batches that each outlive whatever happens after them. A
// file that was broken off goes on where it was when it is given again; one that has been applied
// to its end is not applied twice.
#pragma once

#include <string>

#include "slimgraph/base/progress_hook.h"
#include "txnlayer/disk/store.h"

namespace slimgraph::txn {

struct ApplyOptions {
  std::string store;
  std::string updates;
  std::uint64_t batch = 1 << 18;  // lines
  ProgressHook progress = {};     // lines
};

struct ApplyReport {
  std::uint64_t updates = 0;       // that have been applied now
  std::uint64_t lines = 0;         // of the file
  std::uint64_t lines_before = 0;  // that had been applied before
  std::uint64_t batches = 0;
  GraphTime time = 0;  // of the last batch
  GraphTime kept_from = 0;
  bool folded = false;
  double seconds = 0;
};

// Nothing is applied when any line is malformed or names a vertex that does not exist.
Result<ApplyReport> Apply(const ApplyOptions& options);

}  // namespace slimgraph::txn
