// Serves the requests of other nodes' threads about this node's ledger, on one thread. Its replies
// come when the disk has what they tell.
#pragma once

#include <deque>

#include "txnlayer/internal/durability/durability.h"
#include "txnlayer/internal/execution/worker.h"

namespace slimgraph::txn {

class LedgerServer {
 public:
  explicit LedgerServer(Worker& worker) : worker_(worker) {}

  void Serve(Durability& logs, const Message& message);
  // Called in every turn of the thread's loop. The log and the ledger wake it.
  void Release(Durability& logs);

 private:
  struct Caller {
    EndpointAddress at;
    std::uint32_t call = 0;
  };
  // Waits until the log has the drained records.
  struct Drained {
    Caller caller;
    std::uint64_t record = 0;
    std::uint32_t ring = 0;
    std::uint64_t position = 0;
  };
  // Waits until the ledger is synced.
  struct Synced {
    Caller caller;
    std::uint64_t number = 0;
  };

  Worker& worker_;
  std::deque<Drained> drained_;
  std::deque<Synced> synced_;  // by ascending number
};

}  // namespace slimgraph::txn
