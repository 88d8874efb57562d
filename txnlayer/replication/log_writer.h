// A thread's log at its backups: writes records, and asks backups now and then to take in what has
// been installed, so that its place can be used again.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "txnlayer/execution/worker.h"
#include "txnlayer/replication/log_ring.h"

namespace slimgraph::txn {

class Engine;

// A transaction that has been logged: until it is installed everywhere, its records are needed.
struct LogEntry {
  const Pending* installing = nullptr;  // null: not begun
  bool installed = false;

  bool done() const { return installed || (installing != nullptr && installing->left == 0); }
};

class LogWriter {
 public:
  LogWriter(Engine& engine, Worker& worker);

  // Whether a record of so many words finds room at `node`. Has it make some when it runs short.
  bool HasRoom(NodeId node, std::uint64_t words);

  // Everything about a record on its way, which stays in place until `pending` is done.
  struct Outgoing {
    std::uint64_t stamp = 0;
    std::uint64_t end[2] = {};  // the stamp again, and a word that is none
    std::uint64_t skip = 0;
    std::uint64_t nothing = 0;
    std::deque<Call> calls;
  };
  void Write(NodeId node, const std::vector<std::uint64_t>& record, bool one_sided,
             const std::shared_ptr<LogEntry>& entry, Outgoing& outgoing, Pending& pending);

  // All that was written has been taken in, and all of it is installed.
  void Settle();

 private:
  struct Backup {
    explicit Backup(std::uint64_t first)
        : written(first), installed(first), reclaimed(first), asked(first) {}
    std::uint64_t written;
    std::uint64_t installed;
    std::uint64_t reclaimed;
    std::uint64_t asked;
    std::deque<std::pair<std::uint64_t, std::shared_ptr<LogEntry>>> open;  // by where they end
    Call call;
    Pending pending;  // of the call
  };
  void Reclaim(NodeId node, Backup& backup);

  Engine& engine_;
  Worker& worker_;
  LogShape shape_;
  std::deque<Backup> backups_;  // by node
};

}  // namespace slimgraph::txn
