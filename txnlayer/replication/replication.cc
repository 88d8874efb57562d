#include "txnlayer/replication/replication.h"

#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/engine/engine_thread.h"
#include "txnlayer/execution/message_bytes.h"
#include "txnlayer/store/record.h"

namespace slimgraph::txn {

Replication::Replication(Engine& engine) : engine_(engine), shape_(engine.options().log_bytes) {}

Result<std::unique_ptr<Replication>> Replication::Make(Engine& engine) {
  std::unique_ptr<Replication> replication(new Replication(engine));
  Cluster& cluster = engine.cluster();
  const std::size_t rings = std::size_t{cluster.topology().nodes()} * cluster.threads();
  SLIM_ASSIGN(const SharedRegion region,
              cluster.fabric().Share(rings * replication->shape_.bytes()));
  replication->region_ = region.id;
  replication->memory_ = region.memory;
  replication->applied_up_to_.assign(rings, replication->shape_.first());
  return replication;
}

std::size_t Replication::IndexOf(NodeId node, std::uint32_t thread) const {
  return std::size_t{node} * engine_.cluster().threads() + thread;
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
  const auto at = [&](std::uint64_t position) { return WordAt(ring + shape_.OffsetOf(position)); };
  std::byte* const begin = ring + shape_.OffsetOf(slot.position);
  if (piece.first == 0 && slot.skipped_from != slot.position) {
    at(slot.position).store(0);
    at(slot.skipped_from).store(slot.skip_stamp());
  }
  StoreWords(begin + (1 + piece.first) * kWordBytes, words.data(), words.size());
  if (piece.first + words.size() / kWordBytes + 2 < slot.words) return;
  WordAt(begin + slot.words * kWordBytes).store(0);
  WordAt(begin + (slot.words - 1) * kWordBytes).store(slot.stamp());
  WordAt(begin).store(slot.stamp());
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
  Table& table = engine_.table(id);
  const View& view = engine_.view();
  const NodeId self = engine_.self();
  const NodeId partition = table.Home(key);
  // Coordinators change the primary's tuples themselves, as long as they live.
  if (!view.Holds(self, partition)) return;
  if (!repairing_ && view.Primary(partition) == self) return;
  const Rank rank = view.RankAt(self, partition);
  const std::lock_guard lock(applying_);
  SLIM_CHECK(engine_.PutVersion(table, key, rank, version),
             "the copy of a table is full, and the table is not");
}

}  // namespace slimgraph::txn
