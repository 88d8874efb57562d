#include "txnlayer/internal/stages/tables.h"

#include <algorithm>

#include "slimgraph/base/available_memory.h"
#include "slimgraph/cluster/nodes_on_this_host.h"
#include "txnlayer/internal/store/tuple_view.h"

namespace slimgraph::txn {
namespace {

// The most that is reserved for a table, whatever a node has: addresses are limited too, and all
// nodes of a simulation share them.
#ifdef SLIMGRAPH_SIM
constexpr std::uint64_t kMostReserved = 16 << 20;
#else
constexpr std::uint64_t kMostReserved = std::uint64_t{1} << 39;
#endif
// The regions of so many tables, with what lies beside the tuples, must find addresses on each
// node.
constexpr std::uint64_t kTablesAtOnce = 16;
// Tables get half of what a node has left when they grow. The rest is for folds and snapshots.
constexpr std::uint64_t kShareOfRest = 2;
// The room of a table that grows is at first at most this part of what it can ever be.
constexpr std::uint64_t kLeastGrowth = 4;

}  // namespace

Tables::Tables(Cluster& cluster, const Protocol& protocol, std::uint32_t replicas,
               std::uint64_t most_bytes)
    : cluster_(cluster),
      protocol_(protocol),
      replicas_(replicas),
      nodes_here_(NodesOnThisHost(cluster.job()).size()),
      view_(cluster.topology().nodes(), replicas) {
  if (!cluster.fabric().pages_on_demand()) return;
  most_bytes_ = std::min(MemoryLeftForNode(nodes_here_), kMostReserved / nodes_here_);
  if (most_bytes != 0) most_bytes_ = std::min(most_bytes_, most_bytes);
  // Over shared memory, a node maps the regions of all nodes on its host.
  const std::uint64_t regions = kTablesAtOnce * nodes_here_ * replicas;
  most_bytes_ = std::min(most_bytes_, AddressesLeft(most_bytes_ * regions) / regions);
}

Status Tables::KeepVersions(std::uint32_t threads, std::uint64_t room_bytes) {
  SLIM_ASSIGN(old_versions_, OldVersions::Make(cluster_.fabric(), threads, room_bytes));
  return {};
}

Result<Table*> Tables::Add(const TableSpec& spec) {
  TableSpec made = spec;
  if (made.most_tuples == kAsManyAsFit) {
    // All nodes have different memory and need the same layout.
    std::uint64_t bytes = most_bytes_;
    SLIM_TRY(cluster_.all().AllReduce(std::span(&bytes, 1),
                                      [](auto a, auto b) { return std::min(a, b); }));
    made.most_tuples = bytes / replicas_ / Table::TupleBytes(spec, protocol_.shape());
    if (bytes > 0) {
      made.tuples_per_node = std::min(spec.tuples_per_node, made.most_tuples / kLeastGrowth + 1);
    }
  }
  SLIM_ASSIGN(auto table,
              Table::Make(cluster_.fabric(), size(), made, protocol_.shape(), replicas_));
  if (old_versions_) table->KeepVersionsIn(*old_versions_);
  tables_.push_back(std::move(table));
  return tables_.back().get();
}

std::uint64_t Tables::RoomLeft(const Table& table) const {
  // What tables have been promised, and what of it they do not use yet.
  std::uint64_t promised = 0;
  std::uint64_t unused = 0;
  for (const auto& one : tables_) {
    for (Rank rank = 0; rank < replicas_; ++rank) {
      promised += one->room() * one->tuple_bytes();
      unused += (one->room() - std::min(one->room(), one->tuples(rank))) * one->tuple_bytes();
    }
  }
  const std::uint64_t rest = memory_left() / kShareOfRest;
  const std::uint64_t bytes =
      std::min(most_bytes_ - std::min(most_bytes_, promised), rest - std::min(rest, unused));
  return std::min(bytes / replicas_ / table.tuple_bytes(),
                  table.most_room() - std::min(table.most_room(), table.room()));
}

std::uint64_t Tables::memory_left() const { return MemoryLeftForNode(nodes_here_); }

bool Tables::MakeRoom(Table& table, std::uint64_t tuples) const {
  if (tuples <= table.room()) return true;
  if (!table.grows() || tuples - table.room() > RoomLeft(table)) return false;
  table.AddRoom(tuples);
  return true;
}

void Tables::ForEachTuple(Table& table, const std::function<void(std::byte*)>& visit) const {
  for (NodeId partition = 0; partition < view_.nodes(); ++partition) {
    if (view_.Primary(partition) != self()) continue;
    const Rank rank = view_.RankAt(self(), partition);
    for (std::uint64_t i = 0; i < table.tuples(rank); ++i) {
      visit(TupleAt(table, rank, i).bytes());
    }
  }
}

void Tables::ForEachTuple(const std::function<void(Table&, std::byte*)>& visit) const {
  for (const auto& table : tables_) {
    ForEachTuple(*table, [&](std::byte* tuple) { visit(*table, tuple); });
  }
}

void Tables::ForEachRecord(Table& table,
                           const std::function<void(Key, const std::byte*)>& visit) const {
  ForEachTuple(table, [&](const std::byte* tuple) {
    const TupleView view(table, tuple);
    visit(view.key(), RecordOfVersion(protocol_.LatestVersion(view)));
  });
}

bool Tables::PutVersion(Table& table, Key key, Rank rank, const std::byte* version) const {
  // A key that transactions have written may first have been inserted as a placeholder.
  std::uint64_t offset = table.FindOrInsert(key, rank, Table::TupleKind::kPlaceholder);
  if (offset == 0 && MakeRoom(table, 2 * table.room())) {
    offset = table.FindOrInsert(key, rank, Table::TupleKind::kPlaceholder);
  }
  if (offset == 0) return false;
  const MutableTupleView tuple(table, table.memory(rank) + offset);
  std::byte* const own = protocol_.LatestVersion(tuple);
  const std::uint64_t word = WordOfVersion(version);
  if (word / kOneWrite >= WordAt(own).load() / kOneWrite) {
    StoreWords(own, version, table.version_bytes());
  }
  return true;
}

}  // namespace slimgraph::txn
