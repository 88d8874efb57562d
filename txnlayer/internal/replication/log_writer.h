// A thread's logs at its backups. It writes records, and asks backups now and then to apply the
// installed ones, so that their room can be reused.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "txnlayer/internal/execution/worker.h"
#include "txnlayer/internal/replication/log_ring.h"

namespace slimgraph::txn {

class Replication;

// A logged transaction. Its records are needed until its writes are installed everywhere.
struct LogEntry {
  const Pending* installing = nullptr;  // null: the installation has not begun
  bool installed = false;

  bool done() const { return installed || (installing != nullptr && installing->left == 0); }
};

class LogWriter {
 public:
  // `replication`: null if nothing is replicated. Then the writer is not used.
  LogWriter(Replication* replication, NodeId nodes, Worker& worker);

  // Whether a record of that many words has room at `node`. Starts a reclaim when room runs short.
  bool HasRoom(NodeId node, std::uint64_t words);

  // The source of a record's one-sided writes, and its calls. It must stay in place until `pending`
  // has completed.
  struct Outgoing {
    RecordFrame frame;
    std::deque<Call> calls;
  };
  void Write(NodeId node, const std::vector<std::uint64_t>& record, bool one_sided,
             const std::shared_ptr<LogEntry>& entry, Outgoing& outgoing, Pending& pending);

  // All written records have been applied and all transactions installed: marks the logs as empty.
  void MarkEmpty();

 private:
  struct Backup {
    explicit Backup(std::uint64_t first)
        : written(first), installed(first), reclaimed(first), asked(first) {}
    std::uint64_t written;
    std::uint64_t installed;
    std::uint64_t reclaimed;
    std::uint64_t asked;
    // By the end of the record.
    std::deque<std::pair<std::uint64_t, std::shared_ptr<LogEntry>>> open;
    Call call;
    Pending pending;  // of the call
  };
  void Reclaim(NodeId node, Backup& backup);

  Replication* const replication_;
  Worker& worker_;
  LogShape shape_;
  std::deque<Backup> backups_;  // by node
};

}  // namespace slimgraph::txn
