// The log of one coordinating thread at one backup: a ring of words. Only that thread writes into
// it, one-sided or by message, and only the backup reads it.
//
// A record begins and ends with its stamp. The stamp holds the record's position, in words since
// the log's beginning (the lower 40 bits of it), and its length. The writer first writes what lies
// between the stamps, the last stamp, and behind the record a word that is no stamp. It writes the
// first stamp last, by a separate operation that the fabric keeps behind the others. So a reader
// that finds the right stamp at a position finds a whole record there. If it does not find it, no
// record was completed there, whatever the writer was doing when it died. Records do not wrap
// around the ring's end: a stamp with the length kSkip tells that the rest is skipped. As no length
// is 0, the word 0 is no stamp.
#pragma once

#include <cstdint>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/base/words.h"
#include "txnlayer/internal/store/tuple_header.h"

namespace slimgraph::txn {

// The size of a ring, and the layout that follows from it.
class LogShape {
 public:
  static constexpr std::uint64_t kLeastBytes = 64 << 10;
  static constexpr std::uint64_t kMostBytes = 256 << 20;
  static constexpr unsigned kLengthBits = 24;
  static constexpr std::uint64_t kLengthMask = (std::uint64_t{1} << kLengthBits) - 1;
  static constexpr std::uint64_t kSkip = kLengthMask;
  // The bits of a position in a stamp. A stamp left from an earlier round of the ring has other
  // bits, as a ring is far shorter than 2^40 words. The word behind the last record is no stamp.
  static constexpr unsigned kPositionBits = 64 - kLengthBits;

  // `bytes` must lie between kLeastBytes and kMostBytes.
  explicit LogShape(std::uint64_t bytes) : words_(bytes / kWordBytes) {}

  std::uint64_t words() const { return words_; }
  // Includes the word behind the last record.
  std::uint64_t bytes() const { return (words_ + kCacheLineBytes / kWordBytes) * kWordBytes; }
  // The first position, from which positions count words. The positions in stamps wrap after the
  // first round of the ring, so that every run exercises the wrap-around.
  std::uint64_t first() const { return (std::uint64_t{1} << kPositionBits) - words_; }
  std::uint64_t most_record_words() const { return words_ / 4; }

  // The position of the next record of a given length, and its stamp.
  struct RecordSlot {
    std::uint64_t position;
    std::uint64_t words;
    std::uint64_t skipped_from;  // differs from `position`: where the skip's stamp goes

    std::uint64_t end() const { return position + words; }
    std::uint64_t stamp() const { return StampOf(position, words); }
    std::uint64_t skip_stamp() const { return StampOf(skipped_from, kSkip); }
  };
  static std::uint64_t StampOf(std::uint64_t position, std::uint64_t length) {
    return position << kLengthBits | length;
  }
  RecordSlot SlotFor(std::uint64_t written, std::uint64_t words) const {
    const std::uint64_t to_end = words_ - written % words_;
    return {words <= to_end ? written : written + to_end, words, written};
  }

  // Whether a record of that many words has room behind `written`, when all before `reclaimed` has
  // been read. The record is written with one more word behind it.
  bool HasRoom(std::uint64_t written, std::uint64_t reclaimed, std::uint64_t words) const {
    return SlotFor(written, words).end() + 1 - reclaimed <= words_;
  }

  std::uint64_t OffsetOf(std::uint64_t position) const { return position % words_ * kWordBytes; }

 private:
  std::uint64_t words_;
};

// The words around a record, and the order in which they are written. `write(offset, words, count)`
// writes words at an offset in the ring, after all earlier writes. It may read them later, until
// when this object must stay in place.
class RecordFrame {
 public:
  // Before the record. Skips the rest of the ring if the record would not fit there.
  template <typename Write>
  void WriteSkip(const LogShape& shape, const LogShape::RecordSlot& slot, const Write& write) {
    if (slot.skipped_from == slot.position) return;
    skip_ = slot.skip_stamp();
    write(shape.OffsetOf(slot.position), &nothing_, 1);
    write(shape.OffsetOf(slot.skipped_from), &skip_, 1);
  }
  // After the record.
  template <typename Write>
  void WriteStamps(const LogShape& shape, const LogShape::RecordSlot& slot, const Write& write) {
    stamp_ = end_[0] = slot.stamp();
    // The word behind the record may lie behind the ring's end, where LogShape::bytes() has room.
    write(shape.OffsetOf(slot.position) + (slot.words - 1) * kWordBytes, end_, 2);
    write(shape.OffsetOf(slot.position), &stamp_, 1);
  }

 private:
  std::uint64_t stamp_ = 0;
  std::uint64_t end_[2] = {};  // the stamp again, and a word that is no stamp
  std::uint64_t skip_ = 0;
  std::uint64_t nothing_ = 0;
};

class LogRing {
 public:
  LogRing(const LogShape& shape, std::byte* memory) : shape_(shape), memory_(memory) {}

  // Reads the record at `position`, without its stamps, into `record`, and moves `position` behind
  // it. False when there is none.
  bool ReadNext(std::uint64_t& position, std::vector<std::uint64_t>& record) const {
    std::uint64_t stamp = At(position);
    if (stamp == LogShape::StampOf(position, LogShape::kSkip)) {
      position += shape_.words() - position % shape_.words();
      stamp = At(position);
    }
    const std::uint64_t words = stamp & LogShape::kLengthMask;
    if (stamp != LogShape::StampOf(position, words)) return false;
    if (words < 2 || words > shape_.most_record_words()) return false;
    if (At(position + words - 1) != stamp) return false;
    record.resize(words - 2);
    LoadWords(reinterpret_cast<std::byte*>(record.data()), memory_ + shape_.OffsetOf(position + 1),
              record.size() * kWordBytes);
    position += words;
    return true;
  }

 private:
  std::uint64_t At(std::uint64_t position) const {
    return WordAt(memory_ + shape_.OffsetOf(position)).load();
  }

  LogShape shape_;
  std::byte* memory_;
};

}  // namespace slimgraph::txn
