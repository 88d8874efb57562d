// The log of one coordinating thread at one backup: a ring of words into which only that thread
// writes, from afar or by message, and which only the backup reads.
//
// A record begins and ends with its stamp: where it lies in the endless log of which the ring is a
// window, and its length. What is between the stamps, and behind the record a word that is no
// stamp, is written first; the stamp in front last, in an operation of its own, which the fabric
// keeps behind the others. So where the stamp that belongs to a place is found, there is a whole
// record, and where it is not, none has ended yet, whatever the writer was doing when it died.
// Records do not go round the ring's end: a stamp of no length says that the rest is skipped.
#pragma once

#include <cstdint>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/base/words.h"
#include "txnlayer/store/table.h"

namespace slimgraph::txn {

// How large a ring is, and what follows from that.
class LogShape {
 public:
  static constexpr std::uint64_t kLeastBytes = 64 << 10;
  static constexpr std::uint64_t kMostBytes = 256 << 20;
  static constexpr unsigned kLengthBits = 24;
  static constexpr std::uint64_t kLengthMask = (std::uint64_t{1} << kLengthBits) - 1;

  // Between these.
  explicit LogShape(std::uint64_t bytes) : words_(bytes / kWordBytes) {}

  std::uint64_t words() const { return words_; }
  // With the word behind the last record.
  std::uint64_t bytes() const { return (words_ + kCacheLineBytes / kWordBytes) * kWordBytes; }
  // Positions count words from here on, so that no stamp is 0.
  std::uint64_t first() const { return words_; }
  std::uint64_t most_record_words() const { return words_ / 4; }

  // Where the next record of that length goes, and the stamp that it bears there.
  struct Place {
    std::uint64_t position;
    std::uint64_t words;
    std::uint64_t skipped_from;  // != position: where the stamp of the skip goes

    std::uint64_t end() const { return position + words; }
    std::uint64_t stamp() const { return position << kLengthBits | words; }
    std::uint64_t skip_stamp() const { return skipped_from << kLengthBits; }
  };
  Place PlaceOf(std::uint64_t written, std::uint64_t words) const {
    const std::uint64_t to_end = words_ - written % words_;
    return {words <= to_end ? written : written + to_end, words, written};
  }

  std::uint64_t OffsetOf(std::uint64_t position) const { return position % words_ * kWordBytes; }

 private:
  std::uint64_t words_;
};

class LogRing {
 public:
  LogRing(const LogShape& shape, std::byte* memory) : shape_(shape), memory_(memory) {}

  // The record at `position`, without its stamps, into `record`; false when there is none. Moves
  // `position` behind it.
  bool Next(std::uint64_t& position, std::vector<std::uint64_t>& record) const {
    std::uint64_t stamp = At(position);
    if (stamp == position << LogShape::kLengthBits) {
      position += shape_.words() - position % shape_.words();
      stamp = At(position);
    }
    const std::uint64_t words = stamp & LogShape::kLengthMask;
    if (stamp >> LogShape::kLengthBits != position) return false;
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
