#include "txnlayer/internal/replication/replication.h"

#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/internal/execution/message_bytes.h"
#include "txnlayer/internal/store/record.h"

namespace slimgraph::txn {

Result<std::unique_ptr<Replication>> Replication::Make(Tables& tables, std::uint64_t log_bytes) {
  std::unique_ptr<Replication> replication(new Replication(tables, LogShape(log_bytes)));
  Cluster& cluster = tables.cluster();
  const std::size_t rings = std::size_t{cluster.topology().nodes()} * cluster.threads();
  SLIM_ASSIGN(const SharedRegion region,
              cluster.fabric().Share(rings * replication->shape_.bytes()));
  replication->region_ = region.id;
  replication->memory_ = region.memory;
  replication->applied_up_to_.assign(rings, replication->shape_.first());
  return replication;
}

std::size_t Replication::IndexOf(NodeId node, std::uint32_t thread) const {
  return std::size_t{node} * tables_.cluster().threads() + thread;
}

std::uint64_t Replication::RingAt(NodeId node, std::uint32_t thread) const {
  return IndexOf(node, thread) * shape_.bytes();
}

void Replication::Serve(const Message& message) {
  Bytes rest = message.body;
  const auto header = Take<CallHeader>(rest);
  if (header.what == kReclaimRequest) {
    ApplyLogUpTo(message.from.node, message.from.endpoint, Take<ReclaimUpTo>(rest).position);
  } else {
    const auto piece = Take<LogPiece>(rest);
    Store(piece, rest, memory_.data() + RingAt(message.from.node, message.from.endpoint));
  }
}

// Writes the same words as the one-sided form, in the same order.
void Replication::Store(const LogPiece& piece, Bytes words, std::byte* ring) {
  const LogShape::RecordSlot slot = shape_.SlotFor(piece.written, piece.words);
  const auto write = [&](std::uint64_t offset, const std::uint64_t* from, std::size_t count) {
    StoreWords(ring + offset, reinterpret_cast<const std::byte*>(from), count * kWordBytes);
  };
  RecordFrame frame;
  if (piece.first == 0) frame.WriteSkip(shape_, slot, write);
  const std::uint64_t begin = shape_.OffsetOf(slot.position);
  StoreWords(ring + begin + (1 + piece.first) * kWordBytes, words.data(), words.size());
  const bool last = piece.first + words.size() / kWordBytes + 2 == slot.words;
  if (last) frame.WriteStamps(shape_, slot, write);
}

void Replication::ApplyLogUpTo(NodeId node, std::uint32_t thread, std::uint64_t position) {
  const LogRing ring(shape_, memory_.data() + RingAt(node, thread));
  std::uint64_t& applied_up_to = applied_up_to_[IndexOf(node, thread)];
  std::vector<std::uint64_t> record;
  while (applied_up_to < position) {
    SLIM_CHECK(ring.ReadNext(applied_up_to, record), "a record of a log is missing");
    Apply(record);
  }
}

void Replication::Apply(const std::vector<std::uint64_t>& record) {
  ForEachWrite(record, [this](TableId table, Key key, const std::byte* version) {
    ApplyWrite(table, key, version);
  });
}

// Records of one tuple come from several logs in any order: the one with the most writes counts.
// Applying a record twice does no harm, and completes what a coordinator has left half written.
void Replication::ApplyWrite(TableId id, Key key, const std::byte* version) {
  Table& table = tables_[id];
  const View& view = tables_.view();
  const NodeId self = tables_.self();
  const NodeId partition = table.Home(key);
  // Coordinators change the primary's tuples themselves, as long as they live.
  if (!view.Holds(self, partition)) return;
  if (!repairing_ && view.Primary(partition) == self) return;
  const Rank rank = view.RankAt(self, partition);
  const std::lock_guard lock(applying_);
  SLIM_CHECK(tables_.PutVersion(table, key, rank, version),
             "the copy of a table is full, and the table is not");
}

void Replication::ApplyLogsAfterDeaths() {
  repairing_ = true;
  const Cluster& cluster = tables_.cluster();
  Record record;
  for (NodeId node = 0; node < cluster.topology().nodes(); ++node) {
    for (std::uint32_t thread = 0; thread < cluster.threads(); ++thread) {
      const LogRing ring(shape_, memory_.data() + RingAt(node, thread));
      std::uint64_t& applied_up_to = applied_up_to_[IndexOf(node, thread)];
      while (ring.ReadNext(applied_up_to, record)) {
        Apply(record);
        if (!tables_.view().alive(node)) orphans_.insert(record);
      }
    }
  }
  repairing_ = false;
}

Status Replication::ExchangeOrphans() {
  std::vector<std::uint64_t> mine;
  for (const Record& orphan : orphans_) {
    mine.push_back(orphan.size());
    mine.insert(mine.end(), orphan.begin(), orphan.end());
  }
  SLIM_ASSIGN(const auto all, tables_.cluster().all().AllGather(std::as_bytes(std::span(mine))));
  for (const auto& theirs : all) {
    std::vector<std::uint64_t> words(theirs.size() / kWordBytes);
    if (!words.empty()) std::memcpy(words.data(), theirs.data(), theirs.size());
    for (std::size_t at = 0; at < words.size(); at += 1 + words[at]) {
      const auto first = words.begin() + static_cast<std::ptrdiff_t>(at + 1);
      orphans_.emplace(first, first + static_cast<std::ptrdiff_t>(words[at]));
    }
  }
  repairing_ = true;
  for (const Record& orphan : orphans_) Apply(orphan);
  repairing_ = false;
  return {};
}

}  // namespace slimgraph::txn
