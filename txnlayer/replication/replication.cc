#include "txnlayer/replication/replication.h"

#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/engine_thread.h"
#include "txnlayer/message_bytes.h"
#include "txnlayer/record.h"

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
  replication->taken_in_.assign(rings, replication->shape_.first());
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
    TakeIn(message.from.node, message.from.endpoint, Take<ReclaimUpTo>(rest).position);
  } else {
    const auto piece = Take<LogPiece>(rest);
    Store(piece, rest, memory_.data() + RingAt(message.from.node, message.from.endpoint));
  }
}

// What the one-sided form writes, in the same order.
void Replication::Store(const LogPiece& piece, Bytes words, std::byte* ring) {
  const LogShape::Place place = shape_.PlaceOf(piece.written, piece.words);
  const auto at = [&](std::uint64_t position) { return WordAt(ring + shape_.OffsetOf(position)); };
  std::byte* const begin = ring + shape_.OffsetOf(place.position);
  if (piece.first == 0 && place.skipped_from != place.position) {
    at(place.position).store(0);
    at(place.skipped_from).store(place.skip_stamp());
  }
  StoreWords(begin + (1 + piece.first) * kWordBytes, words.data(), words.size());
  if (piece.first + words.size() / kWordBytes + 2 < place.words) return;
  WordAt(begin + place.words * kWordBytes).store(0);
  WordAt(begin + (place.words - 1) * kWordBytes).store(place.stamp());
  WordAt(begin).store(place.stamp());
}

void Replication::TakeIn(NodeId node, std::uint32_t thread, std::uint64_t position) {
  const LogRing ring(shape_, memory_.data() + RingAt(node, thread));
  std::uint64_t& taken_in = taken_in_[IndexOf(node, thread)];
  std::vector<std::uint64_t> record;
  while (taken_in < position) {
    SLIM_CHECK(ring.Next(taken_in, record), "a record of a log is missing");
    Apply(record);
  }
}

void Replication::Apply(const std::vector<std::uint64_t>& record) {
  ForEachWrite(record, [this](TableId table, Key key, const std::byte* version) {
    ApplyWrite(table, key, version);
  });
}

// Records of one tuple come from several logs in any order: the one that was written last counts.
// The same one twice does no harm, and mends what a coordinator has left half written.
void Replication::ApplyWrite(TableId id, Key key, const std::byte* version) {
  Table& table = engine_.table(id);
  const View& view = engine_.view();
  const NodeId self = engine_.self();
  const NodeId partition = table.Home(key);
  // The primary's tuples are changed by coordinators, as long as these live.
  if (!view.Holds(self, partition)) return;
  if (!repairing_ && view.Primary(partition) == self) return;
  const Rank rank = view.RankAt(self, partition);
  const std::lock_guard lock(applying_);
  SLIM_CHECK(engine_.PutVersion(table, key, rank, version),
             "the copy of a table is full, and the table is not");
}

}  // namespace slimgraph::txn
