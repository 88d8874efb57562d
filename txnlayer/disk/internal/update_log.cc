#include "txnlayer/disk/internal/update_log.h"

namespace slimgraph::txn {

Result<UpdateLogReader> UpdateLogReader::Open(const std::string& path) {
  SLIM_ASSIGN(BatchLogReader log, BatchLogReader::Open(path));
  return UpdateLogReader(std::move(log));
}

UpdateLogReader::UpdateLogReader(BatchLogReader log) : log_(std::move(log)) {
  for (const auto& [label, position, words] : log_.batches()) {
    batches_.push_back({label[0], {label[1], label[2]}, position, words});
  }
}

}  // namespace slimgraph::txn
