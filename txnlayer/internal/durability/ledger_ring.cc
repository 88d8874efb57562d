#include "txnlayer/internal/durability/ledger_ring.h"

#include "slimgraph/base/words.h"

namespace slimgraph::txn {

std::optional<LedgerRing::Frame> LedgerRing::FrameAt(const std::byte* ring, std::uint64_t position,
                                                     Record& record) const {
  const std::uint64_t to_end = WordsToEnd(position);
  if (to_end < kHeaderWords) return std::nullopt;
  std::uint64_t header[kHeaderWords];
  LoadWords(reinterpret_cast<std::byte*>(header), ring + OffsetOf(position), sizeof header);
  if (header[kPosition] != position) return std::nullopt;
  const bool skips = header[kLength] == kSkip;
  const std::uint64_t words = skips ? to_end : header[kLength] >> 32;
  const std::uint32_t length = skips ? 0 : static_cast<std::uint32_t>(header[kLength]);
  if (length > most_record_words() || kHeaderWords + length > words || words > to_end) {
    return std::nullopt;
  }
  record.resize(length);
  LoadWords(reinterpret_cast<std::byte*>(record.data()),
            ring + OffsetOf(position) + kHeaderWords * kWordBytes, length * kWordBytes);
  if (header[kChecksum] != ChecksumOf(header, record)) return std::nullopt;
  return Frame{position + words, header[kDurable], header[kGeneration], skips};
}

bool LedgerRing::ReadNext(const std::byte* ring, std::uint64_t& position, std::uint64_t& generation,
                          Record& record) const {
  if (WordsToEnd(position) < kHeaderWords) position += WordsToEnd(position);
  std::optional<Frame> frame = FrameAt(ring, position, record);
  if (frame && frame->skips) {
    position = frame->end;
    frame = FrameAt(ring, position, record);
  }
  if (!frame || frame->skips) return false;
  generation = frame->generation;
  position = frame->end;
  return true;
}

bool LedgerRing::WasDurable(const std::byte* ring, std::uint64_t position,
                            std::uint64_t end) const {
  Record record;
  for (std::uint64_t at = position; at < end; ++at) {
    const std::optional<Frame> frame = FrameAt(ring, at, record);
    if (frame && frame->durable > position) return true;
  }
  return false;
}

}  // namespace slimgraph::txn
