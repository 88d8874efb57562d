// When edges of a list were written, for those of which it is known: a bit for each edge, and the
// times of those that have one, packed. Edges that were there from the beginning take no more than
// the bit. One-sided readers fetch the marks of a range, and then what these say.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "slimgraph/base/types.h"
#include "txnlayer/graph/graph_shape.h"

namespace slimgraph::txn {

// Of so many edges as it has bits.
struct TimeMarks {
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
static_assert(sizeof(TimeMarks) == kCacheLineBytes);

// The marks of the edges first .. first + count - 1, which are more than none.
struct TimeRange {
  TimeRange(EdgeOffset first_edge, EdgeOffset edges)
      : first(first_edge),
        count(edges),
        first_block(first_edge / TimeMarks::kEdges),
        blocks((first_edge + edges - 1) / TimeMarks::kEdges + 1 - first_block) {}

  // `marks`: those of the range's blocks. Where its times are, and how many.
  std::uint64_t FirstTime(const TimeMarks* marks) const {
    return marks->Rank(first % TimeMarks::kEdges);
  }
  std::uint64_t Times(const TimeMarks* marks) const {
    const EdgeOffset last = first + count - 1;
    const TimeMarks& block = marks[last / TimeMarks::kEdges - first_block];
    const EdgeOffset at = last % TimeMarks::kEdges;
    return block.Rank(at) + (block.Has(at) ? 1 : 0) - FirstTime(marks);
  }
  // Of each edge its time, or 0.
  void Expand(const TimeMarks* marks, const GraphTime* times, GraphTime* into) const {
    std::fill_n(into, count, GraphTime{0});
    ForEach(marks, times, [&](EdgeOffset place, GraphTime time) { into[place] = time; });
  }
  // visit(place in the range, time) for the edges that have one.
  template <typename Visit>
  void ForEach(const TimeMarks* marks, const GraphTime* times, Visit visit) const {
    const EdgeOffset end = first + count;
    for (EdgeOffset block = first_block; block < first_block + blocks; ++block) {
      for (std::size_t word = 0; word < TimeMarks::kWords; ++word) {
        const EdgeOffset begin = block * TimeMarks::kEdges + word * 64;
        for (std::uint64_t bits = marks[block - first_block].bits[word]; bits != 0;
             bits &= bits - 1) {
          const EdgeOffset edge = begin + static_cast<EdgeOffset>(std::countr_zero(bits));
          if (edge >= first && edge < end) visit(edge - first, *times++);
        }
      }
    }
  }

  EdgeOffset first;
  EdgeOffset count;
  EdgeOffset first_block;
  EdgeOffset blocks;
};

// Writes both, from the first edge on, into memory that is zeroed.
class SparseTimes {
 public:
  SparseTimes() = default;
  SparseTimes(MutableBytes marks, MutableBytes times)
      : marks_(reinterpret_cast<TimeMarks*>(marks.data())),
        times_(reinterpret_cast<GraphTime*>(times.data())) {}

  static std::uint64_t MarkBytes(EdgeOffset edges) {
    return (edges / TimeMarks::kEdges + 1) * sizeof(TimeMarks);
  }

  void Append(std::span<const GraphTime> times) {
    for (const GraphTime time : times) Append(time);
  }
  void Append(GraphTime time) {
    TimeMarks& block = marks_[edges_ / TimeMarks::kEdges];
    const EdgeOffset at = edges_++ % TimeMarks::kEdges;
    if (at == 0) block.before = known_;
    if (time == 0) return;
    block.bits[at / 64] |= std::uint64_t{1} << (at % 64);
    times_[known_++] = time;
  }
  // Edges of which nothing is known.
  void Skip(EdgeOffset edges) {
    for (EdgeOffset i = 0; i < edges; ++i) Append(GraphTime{0});
  }

  // How many edges have times.
  std::uint64_t known() const { return known_; }
  std::uint64_t bytes() const { return MarkBytes(edges_) + known_ * sizeof(GraphTime); }

 private:
  TimeMarks* marks_ = nullptr;
  GraphTime* times_ = nullptr;
  EdgeOffset edges_ = 0;
  std::uint64_t known_ = 0;
};

}  // namespace slimgraph::txn
