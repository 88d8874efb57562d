// Applies a file of updates to a store, in batches. Each batch is durable before the next one
// begins. A file that is given again is applied again, with two exceptions: an interrupted file
// continues after its last batch, and a file with a batch id is applied only once.
//
// If the process is killed after the last batch but before it reports success, the store cannot
// tell this from a file that is given again on purpose. Without a batch id the file is then applied
// again, and the report has `same_at`.
#pragma once

#include <string>

#include "slimgraph/base/progress_hook.h"
#include "txnlayer/disk/store.h"

namespace slimgraph::txn {

struct ApplyOptions {
  std::string store;
  std::string updates;
  std::uint64_t batch = 1 << 18;  // lines per batch
  std::string batch_id = {};      // "": none
  // Leave an interrupted file incomplete. `updates` may then be "", and no file is applied.
  bool abandon = false;
  ProgressHook progress = {};  // counts lines
};

struct ApplyReport {
  std::uint64_t updates = 0;       // updates applied by this call
  std::uint64_t lines = 0;         // lines in the file
  std::uint64_t lines_before = 0;  // lines that had been applied before
  std::string abandoned = {};      // the abandoned file and how far it was applied; "": none
  GraphTime same_at = 0;  // the time of the store's last batch if it was of this file, else 0
  std::uint64_t batches = 0;
  GraphTime time = 0;  // of the last batch
  GraphTime kept_from = 0;
  bool folded = false;
  double seconds = 0;
};

// Applies nothing if any line is malformed or names a vertex that does not exist, or if another
// file was interrupted.
Result<ApplyReport> Apply(const ApplyOptions& options);

// Continues an interrupted file, abandons it, or returns an error because `given` is another file.
// Returns how many lines of `given` are in the store. `abandoned`: as in ApplyReport.
Result<std::uint64_t> ResolveInterrupted(Store& store, const Store::Applying& given, bool abandon,
                                         std::string& abandoned);

}  // namespace slimgraph::txn
