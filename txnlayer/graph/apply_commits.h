// Makes the commits in a folder of logs part of the store that they were made on. Afterwards the
// folder has no commits, and the next run with it begins with the store as it is.
//
// The commits are ordered among the store's updates by time (disk/apply_changes.h), so the store
// may have been updated since they were made. The operation can be repeated after a crash: before
// the store has the commits nothing has changed, and afterwards a repeat only empties the folder.
#pragma once

#include <optional>
#include <string>

#include "txnlayer/disk/apply_changes.h"

namespace slimgraph::txn {

struct CommitsToApply {
  std::string store;
  std::string folder;
  bool come_last = false;  // applied after all updates, whatever their times
};

// No run may be using the folder, which must have the logs of all nodes.
Result<ChangesReport> ApplyCommits(const CommitsToApply& what);

// The same at the start of a run. Applies the commits only if the store has been updated since they
// were made. Returns nothing if it has not, or if there are no commits of this store.
Result<std::optional<ChangesReport>> ApplyCommitsBefore(const std::string& store,
                                                        const std::string& folder);

}  // namespace slimgraph::txn
