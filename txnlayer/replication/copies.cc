// Copies of whole tables: how they are made before the first transaction, and held against the
// tables after the last.
#include <cstring>

#include "txnlayer/engine_thread.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kChunkBytes = 256 << 10;

}  // namespace

Status Replication::CopyTables() {
  for (; tables_copied_ < engine_.tables(); ++tables_copied_) {
    const auto id = static_cast<TableId>(tables_copied_);
    SLIM_TRY(ForEachTupleToCopy(engine_.table(id), [&](Key key, const std::byte* version) {
      ApplyWrite(id, key, version);
      return Status();
    }));
  }
  return engine_.cluster().all().Barrier();
}

void Replication::TakeInAll() {
  std::vector<std::uint64_t> record;
  for (std::size_t i = 0; i < taken_in_.size(); ++i) {
    const LogRing ring(shape_, memory_.data() + i * shape_.bytes());
    while (ring.Next(taken_in_[i], record)) Apply(record);
  }
}

Status Replication::CheckCopies() {
  TakeInAll();
  for (TableId id = 0; id < engine_.tables(); ++id) {
    Table& table = engine_.table(id);
    SLIM_TRY(ForEachTupleToCopy(table, [&](Key key, const std::byte* version) -> Status {
      std::uint64_t word;
      std::memcpy(&word, version, sizeof word);
      const Rank rank = engine_.view().RankAt(engine_.self(), table.Home(key));
      const std::uint64_t offset = table.Find(key, rank);
      if (offset == 0 && (word & kExistsBit) == 0) return {};  // looked for alone
      const std::byte* const tuple = table.memory(rank) + offset;
      const auto* const metadata = reinterpret_cast<const std::uint64_t*>(tuple);
      const std::byte* const own = tuple + table.version_at(engine_.protocol().Latest(metadata));
      if (offset != 0 && std::memcmp(own, version, table.version_bytes()) == 0) return {};
      return VerificationError("key {} of table {} has another record on node {}, a backup", key,
                               table.spec().name, engine_.self());
    }));
  }
  return engine_.cluster().all().Barrier();
}

// The latest version of each tuple of partitions that this node is a backup of, read from their
// primaries in large pieces: buckets need not come along.
Status Replication::ForEachTupleToCopy(const Table& table,
                                       const std::function<Status(Key, const std::byte*)>& look) {
  Cluster& cluster = engine_.cluster();
  const View& view = engine_.view();
  std::vector<std::uint64_t> counts(view.nodes());  // of tuples, by partition
  for (NodeId partition = 0; partition < view.nodes(); ++partition) {
    if (view.Primary(partition) != engine_.self()) continue;
    counts[partition] = table.tuples(view.RankAt(engine_.self(), partition));
  }
  SLIM_TRY(cluster.all().AllReduce(std::span<std::uint64_t>(counts), std::plus<>()));
  const std::uint64_t stride = table.TupleOffset(1) - table.TupleOffset(0);
  const std::uint64_t tuples_at_a_time = kChunkBytes / stride;
  std::vector<std::byte> chunk(tuples_at_a_time * stride);
  Endpoint& endpoint = cluster.fabric().endpoint(0);
  for (NodeId partition = 0; partition < view.nodes(); ++partition) {
    const NodeId primary = view.Primary(partition);
    if (!view.Holds(engine_.self(), partition) || primary == engine_.self()) continue;
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
        Key key;
        std::memcpy(&key, tuple + table.key_at(), sizeof key);
        const auto* const words = reinterpret_cast<const std::uint64_t*>(tuple);
        SLIM_TRY(look(key, tuple + table.version_at(engine_.protocol().Latest(words))));
      }
    }
  }
  return {};
}

}  // namespace slimgraph::txn
