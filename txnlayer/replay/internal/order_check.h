// Verifies that committed transactions are equivalent to a serial order: that of their commits
// under two-phase locking, and that of their timestamps under timestamp ordering. It looks only at
// the rows that the level of isolation protects, and knows nothing of locks.
#pragma once

#include <unordered_map>
#include <vector>

#include "slimgraph/base/result.h"
#include "txnlayer/locks/lock_manager.h"

namespace slimgraph::txn {

class OrderCheck {
 public:
  explicit OrderCheck(bool by_timestamps) : by_timestamps_(by_timestamps) {}

  struct Seen {
    LockId row;
    TransactionNumber writer;  // of the version that the transaction has read
    bool write;
    std::uint32_t server;
  };
  // The transaction reads the row, to write it or not.
  void Access(TransactionNumber transaction, LockId row, bool write, std::uint32_t server,
              std::vector<Seen>& seen);
  // It commits, having accessed these. Under two-phase locking, its writes are visible from then
  // on; under timestamp ordering, those of a server from Install() on.
  Status Commit(TransactionNumber transaction, const std::vector<Seen>& seen);
  Status Install(TransactionNumber transaction, std::uint32_t server);

 private:
  struct Row {
    TransactionNumber writer = 0;
    TransactionNumber last_reader = 0;  // the latest by its timestamp
  };

  const bool by_timestamps_;
  std::unordered_map<LockId, Row> rows_;
  // Under timestamp ordering: writes of committed transactions that are to be installed.
  std::unordered_map<TransactionNumber, std::vector<Seen>> to_install_;
};

}  // namespace slimgraph::txn
