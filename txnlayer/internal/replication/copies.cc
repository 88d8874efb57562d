// Copies of whole tables: makes them before the first transaction, and compares them with the
// tables after the last.
#include <cstring>

#include "txnlayer/internal/replication/replication.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kChunkBytes = 256 << 10;

}  // namespace

Status Replication::CopyTables() {
  for (; tables_copied_ < tables_.size(); ++tables_copied_) {
    const auto id = static_cast<TableId>(tables_copied_);
    SLIM_TRY(ForEachTupleToCopy(tables_[id], [&](Key key, const std::byte* version) {
      ApplyWrite(id, key, version);
      return Status();
    }));
  }
  return tables_.cluster().all().Barrier();
}

void Replication::ApplyAllLogs() {
  std::vector<std::uint64_t> record;
  for (std::size_t i = 0; i < applied_up_to_.size(); ++i) {
    const LogRing ring(shape_, memory_.data() + i * shape_.bytes());
    while (ring.ReadNext(applied_up_to_[i], record)) Apply(record);
  }
}

Status Replication::CheckCopies() {
  ApplyAllLogs();
  for (TableId id = 0; id < tables_.size(); ++id) {
    Table& table = tables_[id];
    SLIM_TRY(ForEachTupleToCopy(table, [&](Key key, const std::byte* version) -> Status {
      const Rank rank = tables_.view().RankAt(tables_.self(), table.Home(key));
      const std::uint64_t offset = table.Find(key, rank);
      if (offset == 0 && RecordOfVersion(version) == nullptr) return {};  // a placeholder
      const TupleView tuple(table, table.memory(rank) + offset);
      const std::byte* const own = tables_.protocol().LatestVersion(tuple);
      if (offset != 0 && std::memcmp(own, version, table.version_bytes()) == 0) return {};
      return VerificationError(
          "key {} of table {} has another record on its backup, node {}, than on its primary", key,
          table.spec().name, tables_.self());
    }));
  }
  return tables_.cluster().all().Barrier();
}

// Visits the latest version of each tuple of the partitions for which this node is a backup. It
// reads the tuples from their primaries in large pieces, without the buckets.
Status Replication::ForEachTupleToCopy(const Table& table,
                                       const std::function<Status(Key, const std::byte*)>& visit) {
  Cluster& cluster = tables_.cluster();
  const View& view = tables_.view();
  std::vector<std::uint64_t> counts(view.nodes());  // of tuples, by partition
  for (NodeId partition = 0; partition < view.nodes(); ++partition) {
    if (view.Primary(partition) != tables_.self()) continue;
    counts[partition] = table.tuples(view.RankAt(tables_.self(), partition));
  }
  SLIM_TRY(cluster.all().AllReduce(std::span<std::uint64_t>(counts), std::plus<>()));
  const std::uint64_t stride = table.TupleOffset(1) - table.TupleOffset(0);
  const std::uint64_t tuples_at_a_time = kChunkBytes / stride;
  std::vector<std::byte> chunk(tuples_at_a_time * stride);
  Endpoint& endpoint = cluster.fabric().endpoint(0);
  for (NodeId partition = 0; partition < view.nodes(); ++partition) {
    const NodeId primary = view.Primary(partition);
    if (!view.Holds(tables_.self(), partition) || primary == tables_.self()) continue;
    const RegionId region = table.region(view.RankAt(primary, partition));
    for (std::uint64_t first = 0; first < counts[partition]; first += tuples_at_a_time) {
      const std::uint64_t count = std::min(tuples_at_a_time, counts[partition] - first);
      endpoint.Read(primary, region, table.TupleOffset(first),
                    MutableBytes(chunk).first(count * stride));
      const Outcome outcome = endpoint.Flush();
      if (outcome != Outcome::kOk) {
        return EnvironmentError("a table cannot be copied: {}", OutcomeName(outcome));
      }
      for (const std::byte* tuple = chunk.data(); tuple < chunk.data() + count * stride;
           tuple += stride) {
        const TupleView copy(table, tuple);
        SLIM_TRY(visit(copy.key(), tables_.protocol().LatestVersion(copy)));
      }
    }
  }
  return {};
}

}  // namespace slimgraph::txn
