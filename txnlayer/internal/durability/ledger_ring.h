// A ring of records in a ledger (ledger.h), which one thread writes.
//
// Each record has a frame: a checksum, its position, the generation of logs to which it belongs,
// up to which position all was durable when it was written, and its length. Positions count words
// since the ring was empty; frames do not wrap around the ring's end. Parts of a frame may reach
// the disk in any order, or never. So a frame is whole if its checksum is right. The checksum
// covers the position, and the number of the run, so no older frame at the same place is taken for
// it. A frame that is not whole, though a later one tells that it was durable, is damaged.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "txnlayer/internal/store/record.h"

namespace slimgraph::txn {

class LedgerRing {
 public:
  // Adapters and persistent memory write whole lines fastest, and large writes in whole blocks.
  static constexpr std::uint64_t kLineWords = 8;
  static constexpr std::uint64_t kBlockWords = 32;
  static constexpr std::uint64_t kLeastWords = 16 * kBlockWords;

  // `words` is a multiple of kBlockWords. `pads`: frames end where a line or a block ends.
  LedgerRing(std::uint64_t words, std::uint64_t run, bool pads)
      : words_(words), run_(run), pads_(pads) {}

  std::uint64_t words() const { return words_; }
  std::uint64_t most_record_words() const { return words_ / 4; }

  // Where the next frame begins and ends, if `written` words have been written.
  struct Slot {
    std::uint64_t position = 0;
    std::uint64_t end = 0;
  };
  Slot SlotFor(std::uint64_t written, std::uint64_t record_words) const {
    const std::uint64_t frame = kHeaderWords + record_words;
    const auto slot_at = [&](std::uint64_t position) {
      return Slot{position, pads_ ? RoundUp(position + frame, Unit(frame)) : position + frame};
    };
    const Slot slot = slot_at(written);
    const std::uint64_t ring_end = written + WordsToEnd(written);
    return slot.end <= ring_end ? slot : slot_at(ring_end);
  }
  bool HasRoom(std::uint64_t written, std::uint64_t drained, std::uint64_t record_words) const {
    return SlotFor(written, record_words).end - drained <= words_;
  }
  std::uint64_t OffsetOf(std::uint64_t position) const { return position % words_ * kWordBytes; }

  // The words of the frame, to be written at slot.position. All before `durable` is durable.
  void MakeFrame(const Slot& slot, std::uint64_t durable, std::uint64_t generation,
                 const Record& record, std::vector<std::uint64_t>& frame) const {
    frame.assign(slot.end - slot.position, 0);
    std::copy(record.begin(), record.end(), frame.begin() + kHeaderWords);
    frame[kPosition] = slot.position;
    frame[kDurable] = durable;
    frame[kGeneration] = generation;
    frame[kLength] = frame.size() << 32 | record.size();
    frame[kChecksum] = ChecksumOf(frame.data(), record);
  }
  // The frame that tells that the rest of the ring is skipped, to be written at `written`. Empty if
  // there is no room for one, or nothing to skip.
  void MakeSkip(std::uint64_t written, const Slot& slot, std::vector<std::uint64_t>& frame) const {
    frame.clear();
    if (slot.position < written + kHeaderWords) return;
    frame.assign(kHeaderWords, 0);
    frame[kPosition] = written;
    frame[kLength] = kSkip;
    frame[kChecksum] = ChecksumOf(frame.data(), {});
  }

  // Reads the record at `position` of a ring in memory, and moves `position` behind it. False:
  // there is no whole one.
  bool ReadNext(const std::byte* ring, std::uint64_t& position, std::uint64_t& generation,
                Record& record) const;
  // Whether a frame behind `position`, and before `end`, tells that what is at `position` was
  // durable.
  bool WasDurable(const std::byte* ring, std::uint64_t position, std::uint64_t end) const;

 private:
  enum Word : std::size_t { kChecksum, kPosition, kDurable, kGeneration, kLength, kHeaderWords };
  static constexpr std::uint64_t kSkip = ~std::uint64_t{0};

  static std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
  }
  static std::uint64_t Unit(std::uint64_t frame) {
    return frame < kBlockWords ? kLineWords : kBlockWords;
  }
  // A whole frame at that very position.
  struct Frame {
    std::uint64_t end = 0;
    std::uint64_t durable = 0;
    std::uint64_t generation = 0;
    bool skips = false;  // it has no record
  };
  std::optional<Frame> FrameAt(const std::byte* ring, std::uint64_t position, Record& record) const;
  std::uint64_t WordsToEnd(std::uint64_t position) const { return words_ - position % words_; }
  std::uint64_t ChecksumOf(const std::uint64_t* header, const Record& record) const {
    const std::uint64_t of_header =
        XXH3_64bits_withSeed(header + kPosition, (kHeaderWords - kPosition) * kWordBytes, run_);
    return XXH3_64bits_withSeed(record.data(), record.size() * kWordBytes, of_header);
  }

  std::uint64_t words_;
  std::uint64_t run_;
  bool pads_;
};

}  // namespace slimgraph::txn
