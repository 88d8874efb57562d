#include "txnlayer/internal/stages/tables.h"

#include "txnlayer/internal/store/tuple_view.h"

namespace slimgraph::txn {

Result<Table*> Tables::Add(const TableSpec& spec) {
  SLIM_ASSIGN(auto table,
              Table::Make(cluster_.fabric(), size(), spec, protocol_.shape(), replicas_));
  tables_.push_back(std::move(table));
  return tables_.back().get();
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
  const std::uint64_t offset = table.FindOrInsert(key, rank, Table::TupleKind::kPlaceholder);
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
