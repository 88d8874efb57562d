// A summary of the out lists of a graph that stands in a pool. Its parts are cut into
// segments, at most 32 in all, and a word for each vertex tells in which segments its neighbours
// are. By these words a job of any number of compute nodes finds most of what its nodes must know
// about each other's vertices, without decoding lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/graph/partition.h"

namespace slimgraph {

class NeighbourSummary {
 public:
  using Word = std::uint32_t;
  static constexpr std::size_t kMostSegments = 32;

  // Each part has equally many segments. They begin at multiples of `step`, a power of two, as the
  // parts do. There are none if there are more parts than kMostSegments.
  NeighbourSummary(std::span<const VertexPart> parts, VertexId step);

  // Those of part p are p * per_part() .. (p + 1) * per_part() - 1. Some may be empty.
  std::size_t segments() const { return begins_.size() - 1; }
  std::size_t per_part() const { return per_part_; }
  VertexId begin(std::size_t segment) const { return begins_[segment]; }
  VertexId end(std::size_t segment) const { return begins_[segment + 1]; }

  bool BeginsAt(VertexId v) const { return std::ranges::binary_search(begins_, v); }

  // Bit s is set if the list has a vertex of segment s.
  Word Of(std::span<const VertexId> list) const;

 private:
  std::size_t per_part_;
  unsigned shift_;                        // log2(step)
  std::vector<VertexId> begins_;          // of the segments; then the end of the last
  std::vector<std::uint8_t> segment_of_;  // by vertex / step
};

}  // namespace slimgraph
