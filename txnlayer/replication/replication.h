// What a node keeps for others' sake: copies of their partitions, and the logs of coordinators. And
// how a partition goes on at a backup when its node has died.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/message.h"
#include "txnlayer/replication/log_ring.h"
#include "txnlayer/timestamp.h"

namespace slimgraph::txn {

class Engine;

// Requests to the thread of a backup that has the same number as the coordinator's.
constexpr std::uint16_t kLogRequest = 16;      // a piece of a record
constexpr std::uint16_t kReclaimRequest = 17;  // take in all records up to a position
struct LogPiece {
  std::uint64_t written;  // how far the log goes before the record
  std::uint64_t words;    // of the whole record
  std::uint64_t first;    // of this piece in it, without the stamp
};
struct ReclaimUpTo {
  std::uint64_t position;
};

class Replication {
 public:
  // Collective.
  static Result<std::unique_ptr<Replication>> Make(Engine& engine);

  // Where a coordinator's ring begins, in the region of logs of every node.
  RegionId region() const { return region_; }
  std::uint64_t RingAt(NodeId node, std::uint32_t thread) const;

  // Collective: copies the tables that have been filled since.
  Status CopyTables();

  // When nothing runs: takes in all that is in logs.
  void TakeInAll();
  // All that live have taken in all there is, so that no other death can take a record with it.
  void ForgetOrphans() { orphans_.clear(); }

  // Collective, when nothing runs: takes in all logs, and holds copies against their partitions.
  Status CheckCopies();

  // Of another node's thread, or of the own one's.
  void Serve(const Message& message);
  void TakeIn(NodeId node, std::uint32_t thread, std::uint64_t position);

  // Collective among those that live, while no transaction runs anywhere: all that was committed is
  // in every partition and copy, all locks are free, no log holds anything. `lost` have died since
  // the last time, and the view is the one before. Where it fails, for another has died, it is done
  // again with that one among the lost; some may have come to its end before.
  Status Repair(const std::vector<NodeId>& lost);

 private:
  explicit Replication(Engine& engine);
  Status ForEachTupleToCopy(const Table& table,
                            const std::function<Status(Key, const std::byte*)>& look);
  void Store(const LogPiece& piece, Bytes words, std::byte* ring);
  void Apply(const std::vector<std::uint64_t>& record);
  void ApplyWrite(TableId table, Key key, const std::byte* version);
  Status ExchangeOrphans();
  Timestamp FreeLocks();
  std::size_t IndexOf(NodeId node, std::uint32_t thread) const;

  Engine& engine_;
  LogShape shape_;
  RegionId region_ = 0;
  MutableBytes memory_;
  std::vector<std::uint64_t> taken_in_;  // by ring: up to where
  // Records of those that have died, which everybody is told in each repair.
  std::set<std::vector<std::uint64_t>> orphans_;
  std::size_t tables_copied_ = 0;
  bool repairing_ = false;
  std::mutex applying_;
};

}  // namespace slimgraph::txn
