// The times and properties of a list's edges. Few edges have any, so there is one bit per edge, and
// packed records for the marked edges alone. An edge that was loaded with zeros as properties and
// without a time takes only its bit. A one-sided reader reads the marks of a range, then the
// records of the marked edges.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "slimgraph/base/types.h"
#include "txnlayer/graph_model/graph_shape.h"

namespace slimgraph::txn {

// The marks of kEdges consecutive edges.
struct EdgeMarks {
  static constexpr std::size_t kWords = 7;
  static constexpr EdgeOffset kEdges = kWords * 64;
  std::uint64_t before;  // number of marks in all earlier blocks
  std::uint64_t bits[kWords];

  bool Has(EdgeOffset edge) const { return (bits[edge / 64] >> (edge % 64) & 1) != 0; }
  // The number of marks before that edge: in this block and in all earlier ones.
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

// A record: the time at which the edge was written (0: unknown), then its properties.
constexpr std::uint64_t EdgeRecordBytes(const GraphShape& shape) {
  return sizeof(GraphTime) + WholeWords(shape.edge_bytes);
}
// What an edge in the list of one of its ends takes, with its marks and record; about.
constexpr std::uint64_t ArcBytes(const GraphShape& shape) {
  return sizeof(VertexId) + 1 + EdgeRecordBytes(shape);
}

// A marked edge, and its position in the range that was read.
struct MarkedEdge {
  EdgeOffset position = 0;
  const std::byte* record = nullptr;

  GraphTime time() const {
    GraphTime time;
    std::memcpy(&time, record, sizeof time);
    return time;
  }
  const std::byte* properties() const { return record + sizeof(GraphTime); }
};

// The marks of the edges first … first + count - 1. `count` is at least 1.
struct MarkRange {
  MarkRange(EdgeOffset first_edge, EdgeOffset edges)
      : first(first_edge),
        count(edges),
        first_block(first_edge / EdgeMarks::kEdges),
        blocks((first_edge + edges - 1) / EdgeMarks::kEdges + 1 - first_block) {}

  // `marks`: the range's blocks. The index of the range's first record, and the number of its
  // records.
  std::uint64_t FirstRecord(const EdgeMarks* marks) const {
    return marks->Rank(first % EdgeMarks::kEdges);
  }
  std::uint64_t Records(const EdgeMarks* marks) const {
    const EdgeOffset last = first + count - 1;
    const EdgeMarks& block = marks[last / EdgeMarks::kEdges - first_block];
    const EdgeOffset at = last % EdgeMarks::kEdges;
    return block.Rank(at) + (block.Has(at) ? 1 : 0) - FirstRecord(marks);
  }
  // visit(position in the range) for every marked edge.
  template <typename Visit>
  void ForEach(const EdgeMarks* marks, Visit visit) const {
    for (EdgeOffset position = 0; position < count;) {
      const EdgeOffset in_block = (first + position) % EdgeMarks::kEdges;
      const EdgeMarks& block = marks[(first + position) / EdgeMarks::kEdges - first_block];
      const EdgeOffset width = std::min<EdgeOffset>(64 - in_block % 64, count - position);
      std::uint64_t bits = block.bits[in_block / 64] >> (in_block % 64);
      if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
      for (; bits != 0; bits &= bits - 1) {
        visit(position + static_cast<EdgeOffset>(std::countr_zero(bits)));
      }
      position += width;
    }
  }

  EdgeOffset first;
  EdgeOffset count;
  EdgeOffset first_block;
  EdgeOffset blocks;
};

// Writes marks and records, starting with the first edge, into zeroed memory.
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

  // Appends edges without marks.
  void Skip(EdgeOffset edges) {
    const EdgeOffset last = (edges_ + edges) / EdgeMarks::kEdges;
    for (EdgeOffset block = edges_ / EdgeMarks::kEdges; block < last;) {
      marks_[++block].before = marked_;
    }
    edges_ += edges;
  }
  // `properties`: null stands for zeros. An edge without a time and with zeros is not marked.
  void Append(GraphTime time, const std::byte* properties) {
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (properties != nullptr && std::all_of(properties, properties + edge_bytes_, is_zero)) {
      properties = nullptr;
    }
    if (time == 0 && properties == nullptr) return Skip(1);
    std::byte* const record = records_ + marked_ * record_bytes_;
    std::memcpy(record, &time, sizeof time);
    if (properties != nullptr) std::copy_n(properties, edge_bytes_, record + sizeof time);
    Mark();
  }
  // Appends the edges of a range of other marks, with their records.
  void Copy(const MarkRange& range, const EdgeMarks* marks, const std::byte* records) {
    std::copy_n(records, range.Records(marks) * record_bytes_, records_ + marked_ * record_bytes_);
    EdgeOffset at = 0;
    range.ForEach(marks, [&](EdgeOffset position) {
      Skip(position - at);
      Mark();
      at = position + 1;
    });
    Skip(range.count - at);
  }

  // The number of marked edges.
  std::uint64_t marked() const { return marked_; }
  std::uint64_t bytes() const { return MarkBytes(edges_) + marked_ * record_bytes_; }

 private:
  void Mark() {
    const EdgeOffset at = edges_ % EdgeMarks::kEdges;
    marks_[edges_ / EdgeMarks::kEdges].bits[at / 64] |= std::uint64_t{1} << (at % 64);
    ++marked_;
    Skip(1);
  }

  const std::uint64_t edge_bytes_;
  const std::uint64_t record_bytes_;
  EdgeMarks* const marks_;
  std::byte* const records_;
  EdgeOffset edges_ = 0;
  std::uint64_t marked_ = 0;
};

}  // namespace slimgraph::txn
