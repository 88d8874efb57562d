#include "txnlayer/internal/replication/log_writer.h"

#include <algorithm>
#include <cstring>

#include "txnlayer/internal/replication/replication.h"

namespace slimgraph::txn {
namespace {

constexpr std::size_t kPieceWords = 3 << 10;  // of a record in one message
static_assert(kPieceWords * kWordBytes < kMaxMessageBytes - 256);

Bytes WordsAsBytes(const std::uint64_t* words, std::size_t count) {
  return std::as_bytes(std::span(words, count));
}

template <typename Body>
void SetRequest(std::vector<std::byte>& request, std::uint16_t what, const Body& body, Bytes rest) {
  const CallHeader header{.what = what};
  request.resize(sizeof header + sizeof body + rest.size());
  std::memcpy(request.data(), &header, sizeof header);
  std::memcpy(request.data() + sizeof header, &body, sizeof body);
  if (!rest.empty()) {
    std::memcpy(request.data() + sizeof header + sizeof body, rest.data(), rest.size());
  }
}

}  // namespace

LogWriter::LogWriter(Replication* replication, NodeId nodes, Worker& worker)
    : replication_(replication),
      worker_(worker),
      shape_(replication != nullptr ? replication->log_shape() : LogShape(LogShape::kLeastBytes)) {
  while (backups_.size() < nodes) backups_.emplace_back(shape_.first());
}

bool LogWriter::HasRoom(NodeId node, std::uint64_t words) {
  Backup& backup = backups_[node];
  while (!backup.open.empty() && backup.open.front().second->done()) {
    backup.installed = backup.open.front().first;
    backup.open.pop_front();
  }
  Reclaim(node, backup);
  return shape_.HasRoom(backup.written, backup.reclaimed, words);
}

void LogWriter::Reclaim(NodeId node, Backup& backup) {
  if (backup.pending.left > 0) return;
  if (backup.asked > backup.reclaimed) backup.reclaimed = backup.asked;
  const bool short_of_room = backup.written - backup.reclaimed > shape_.words() / 2;
  if (!short_of_room || backup.installed == backup.reclaimed) return;
  backup.asked = backup.installed;
  const EndpointAddress self = worker_.endpoint().address();
  if (node == self.node) {
    replication_->ApplyLogUpTo(node, self.endpoint, backup.asked);
    backup.reclaimed = backup.asked;
    return;
  }
  backup.call.to = {node, self.endpoint};
  SetRequest(backup.call.request, kReclaimRequest, ReclaimUpTo{backup.asked}, {});
  worker_.Send(backup.call, &backup.pending);
}

void LogWriter::Write(NodeId node, const std::vector<std::uint64_t>& record, bool one_sided,
                      const std::shared_ptr<LogEntry>& entry, Outgoing& outgoing,
                      Pending& pending) {
  Backup& backup = backups_[node];
  const EndpointAddress self = worker_.endpoint().address();
  const LogShape::RecordSlot slot = shape_.SlotFor(backup.written, record.size() + 2);
  if (one_sided || node == self.node) {
    const RegionId region = replication_->region();
    const std::uint64_t ring = replication_->RingAt(self.node, self.endpoint);
    const auto write = [&](std::uint64_t offset, const std::uint64_t* words, std::size_t count) {
      worker_.endpoint().Write(node, region, ring + offset, WordsAsBytes(words, count),
                               worker_.Tag(pending));
    };
    outgoing.frame.WriteSkip(shape_, slot, write);
    write(shape_.OffsetOf(slot.position + 1), record.data(), record.size());
    outgoing.frame.WriteStamps(shape_, slot, write);
  } else {
    for (std::size_t first = 0; first < record.size(); first += kPieceWords) {
      Call& call = outgoing.calls.emplace_back();
      call.to = {node, self.endpoint};
      const std::size_t count = std::min(kPieceWords, record.size() - first);
      SetRequest(call.request, kLogRequest, LogPiece{backup.written, slot.words, first},
                 WordsAsBytes(record.data() + first, count));
      worker_.Send(call, &pending);
    }
  }
  backup.written = slot.end();
  backup.open.emplace_back(backup.written, entry);
}

void LogWriter::MarkEmpty() {
  for (Backup& backup : backups_) {
    backup.open.clear();
    backup.installed = backup.asked = backup.reclaimed = backup.written;
  }
}

}  // namespace slimgraph::txn
