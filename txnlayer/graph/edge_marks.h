// What is known of a list's edges beside their ends, when each was written and what it carries, for
// those of which anything is: a bit for each edge, and the records of those that are marked,
// packed. Edges that were there from the beginning, and carry zeros, take no more than the bit.
// One-sided readers fetch the marks of a range, and then what these say.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "slimgraph/base/types.h"
#include "txnlayer/graph/graph_shape.h"

namespace slimgraph::txn {

// Of so many edges as it has bits.
struct EdgeMarks {
  static constexpr std::size_t kWords = 7;
  static constexpr EdgeOffset kEdges = kWords * 64;
  std::uint64_t before;  // marks in all blocks before this
  std::uint64_t bits[kWords];

  bool Has(EdgeOffset edge) const { return (bits[edge / 64] >> (edge % 64) & 1) != 0; }
  // Marks before that edge of the block, and in all blocks before.
  std::uint64_t Rank(EdgeOffset edge) const {
    std::uint64_t rank = before;
    for (std::size_t word = 0; word < edge / 64; ++word) {
      rank += static_cast<std::uint64_t>(std::popcount(bits[word]));
    }
    if (edge % 64 == 0) return rank;
    const std::uint64_t below = bits[edge / 64] << (64 - edge % 64);
    return rank + static_cast<std::uint64_t>(std::popcount(below));
  }
};
static_assert(sizeof(EdgeMarks) == kCacheLineBytes);

// A record is when the edge was written, 0 where that is not known, and its properties.
constexpr std::uint64_t EdgeRecordBytes(const GraphShape& shape) {
  return sizeof(GraphTime) + WholeWords(shape.edge_bytes);
}

// An edge that is marked, by its place in what was asked for.
struct KnownEdge {
  EdgeOffset place = 0;
  const std::byte* record = nullptr;

  GraphTime time() const {
    GraphTime time;
    std::memcpy(&time, record, sizeof time);
    return time;
  }
  const std::byte* properties() const { return record + sizeof(GraphTime); }
};

// The marks of the edges first .. first + count - 1, which are more than none.
struct MarkRange {
  MarkRange(EdgeOffset first_edge, EdgeOffset edges)
      : first(first_edge),
        count(edges),
        first_block(first_edge / EdgeMarks::kEdges),
        blocks((first_edge + edges - 1) / EdgeMarks::kEdges + 1 - first_block) {}

  // `marks`: those of the range's blocks. Where its records are, and how many.
  std::uint64_t FirstRecord(const EdgeMarks* marks) const {
    return marks->Rank(first % EdgeMarks::kEdges);
  }
  std::uint64_t Records(const EdgeMarks* marks) const {
    const EdgeOffset last = first + count - 1;
    const EdgeMarks& block = marks[last / EdgeMarks::kEdges - first_block];
    const EdgeOffset at = last % EdgeMarks::kEdges;
    return block.Rank(at) + (block.Has(at) ? 1 : 0) - FirstRecord(marks);
  }
  // visit(place in the range) for the edges that are marked.
  template <typename Visit>
  void ForEach(const EdgeMarks* marks, Visit visit) const {
    for (EdgeOffset place = 0; place < count;) {
      const EdgeOffset in_block = (first + place) % EdgeMarks::kEdges;
      const EdgeMarks& block = marks[(first + place) / EdgeMarks::kEdges - first_block];
      const EdgeOffset width = std::min<EdgeOffset>(64 - in_block % 64, count - place);
      std::uint64_t bits = block.bits[in_block / 64] >> (in_block % 64);
      if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
      for (; bits != 0; bits &= bits - 1) {
        visit(place + static_cast<EdgeOffset>(std::countr_zero(bits)));
      }
      place += width;
    }
  }

  EdgeOffset first;
  EdgeOffset count;
  EdgeOffset first_block;
  EdgeOffset blocks;
};

// Writes marks and records, from the first edge on, into memory that is zeroed.
class MarkWriter {
 public:
  MarkWriter(const GraphShape& shape, MutableBytes marks, MutableBytes records)
      : edge_bytes_(shape.edge_bytes),
        record_bytes_(EdgeRecordBytes(shape)),
        marks_(reinterpret_cast<EdgeMarks*>(marks.data())),
        records_(records.data()) {}

  static std::uint64_t MarkBytes(EdgeOffset edges) {
    return (edges / EdgeMarks::kEdges + 1) * sizeof(EdgeMarks);
  }

  // Edges of which nothing is known.
  void Skip(EdgeOffset edges) {
    const EdgeOffset last = (edges_ + edges) / EdgeMarks::kEdges;
    for (EdgeOffset block = edges_ / EdgeMarks::kEdges; block < last;) {
      marks_[++block].before = known_;
    }
    edges_ += edges;
  }
  // `properties`: null stands for zeros. Of an edge of which nothing is known there is no record.
  void Append(GraphTime time, const std::byte* properties) {
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (properties != nullptr && std::all_of(properties, properties + edge_bytes_, is_zero)) {
      properties = nullptr;
    }
    if (time == 0 && properties == nullptr) return Skip(1);
    std::byte* const record = records_ + known_ * record_bytes_;
    std::memcpy(record, &time, sizeof time);
    if (properties != nullptr) std::copy_n(properties, edge_bytes_, record + sizeof time);
    Mark();
  }
  // The edges of a range of others' marks, with their records.
  void Copy(const MarkRange& range, const EdgeMarks* marks, const std::byte* records) {
    std::copy_n(records, range.Records(marks) * record_bytes_, records_ + known_ * record_bytes_);
    EdgeOffset at = 0;
    range.ForEach(marks, [&](EdgeOffset place) {
      Skip(place - at);
      Mark();
      at = place + 1;
    });
    Skip(range.count - at);
  }

  // How many edges have records.
  std::uint64_t known() const { return known_; }
  std::uint64_t bytes() const { return MarkBytes(edges_) + known_ * record_bytes_; }

 private:
  void Mark() {
    const EdgeOffset at = edges_ % EdgeMarks::kEdges;
    marks_[edges_ / EdgeMarks::kEdges].bits[at / 64] |= std::uint64_t{1} << (at % 64);
    ++known_;
    Skip(1);
  }

  const std::uint64_t edge_bytes_;
  const std::uint64_t record_bytes_;
  EdgeMarks* const marks_;
  std::byte* const records_;
  EdgeOffset edges_ = 0;
  std::uint64_t known_ = 0;
};

}  // namespace slimgraph::txn
