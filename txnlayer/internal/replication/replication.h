// What a node keeps for other nodes: copies of their partitions, and the logs of their
// coordinators.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/message.h"
#include "txnlayer/internal/replication/log_ring.h"
#include "txnlayer/internal/stages/tables.h"
#include "txnlayer/internal/store/record.h"

namespace slimgraph::txn {

// Requests to the thread of a backup that has the same number as the coordinator's.
constexpr std::uint16_t kLogRequest = 16;      // a piece of a record
constexpr std::uint16_t kReclaimRequest = 17;  // apply all records up to a position
struct LogPiece {
  std::uint64_t written;  // the log's end before the record
  std::uint64_t words;    // of the whole record
  std::uint64_t first;    // index of this piece in the record, without the stamp
};
struct ReclaimUpTo {
  std::uint64_t position;
};

class Replication {
 public:
  // Collective.
  static Result<std::unique_ptr<Replication>> Make(Tables& tables, std::uint64_t log_bytes);

  const LogShape& log_shape() const { return shape_; }
  // The region of logs, which is the same on every node, and the offset of a coordinator's ring in
  // it.
  RegionId region() const { return region_; }
  std::uint64_t RingAt(NodeId node, std::uint32_t thread) const;

  // Collective: copies the tables that were added since the last call.
  Status CopyTables();

  // When nothing runs: applies all records in the logs.
  void ApplyAllLogs();
  // Of a repair, while no transaction runs anywhere: applies all records in the logs, to primaries
  // too. A record of a dead node that is whole anywhere may belong to a transaction that was
  // acknowledged. So it becomes an orphan, which all nodes carry out.
  void ApplyLogsAfterDeaths();
  // Collective: collects the orphans of all nodes, and applies them.
  Status ExchangeOrphans();
  const std::set<Record>& orphans() const { return orphans_; }
  // Forgets the orphans, after all living nodes have applied all records: no other death can lose
  // one.
  void ForgetOrphans() { orphans_.clear(); }

  // Collective, when nothing runs: applies all logs, and compares copies with their partitions.
  Status CheckCopies();

  // Called by the thread that received the message; ApplyLogUpTo() also by the own thread's log
  // writer.
  void Serve(const Message& message);
  void ApplyLogUpTo(NodeId node, std::uint32_t thread, std::uint64_t position);

 private:
  Replication(Tables& tables, const LogShape& shape) : tables_(tables), shape_(shape) {}
  Status ForEachTupleToCopy(const Table& table,
                            const std::function<Status(Key, const std::byte*)>& visit);
  void Store(const LogPiece& piece, Bytes words, std::byte* ring);
  void Apply(const std::vector<std::uint64_t>& record);
  void ApplyWrite(TableId table, Key key, const std::byte* version);
  std::size_t IndexOf(NodeId node, std::uint32_t thread) const;

  Tables& tables_;
  LogShape shape_;
  RegionId region_ = 0;
  MutableBytes memory_;
  std::vector<std::uint64_t> applied_up_to_;  // by ring: where the applied records end
  // Records of dead nodes, which the nodes exchange in each repair.
  std::set<Record> orphans_;
  std::size_t tables_copied_ = 0;
  bool repairing_ = false;
  Mutex applying_;
};

}  // namespace slimgraph::txn
