#include "slimgraph/remote/neighbour_summary.h"

#include <algorithm>
#include <bit>

#include "slimgraph/base/check.h"

namespace slimgraph {

NeighbourSummary::NeighbourSummary(std::span<const VertexPart> parts, VertexId step)
    : per_part_(kMostSegments / parts.size()),
      shift_(static_cast<unsigned>(std::bit_width(step)) - 1) {
  SLIM_CHECK(std::has_single_bit(step), "a step of {}", step);
  for (const VertexPart& part : parts) {
    const std::uint64_t steps = (std::uint64_t{part.count} + step - 1) / step;
    for (std::size_t i = 0; i < per_part_; ++i) {
      const std::uint64_t before =
          std::min(steps * i / per_part_ * step, std::uint64_t{part.count});
      begins_.push_back(part.first + static_cast<VertexId>(before));
    }
  }
  begins_.push_back(parts.back().first + parts.back().count);
  for (std::size_t s = 0; s < segments(); ++s) {
    const std::size_t steps = (std::size_t{end(s)} + step - 1) / step;
    if (steps > segment_of_.size()) segment_of_.resize(steps, static_cast<std::uint8_t>(s));
  }
}

// In a long list, which ascends, it searches for the first vertex of each segment.
NeighbourSummary::Word NeighbourSummary::Of(std::span<const VertexId> list) const {
  constexpr std::size_t kLong = 8 * kMostSegments;
  Word word = 0;
  if (list.size() < kLong) {
    for (const VertexId v : list) word |= Word{1} << segment_of_[v >> shift_];
    return word;
  }
  for (auto at = list.begin(); at != list.end();) {
    const std::size_t segment = segment_of_[*at >> shift_];
    word |= Word{1} << segment;
    at = std::lower_bound(at, list.end(), end(segment));
  }
  return word;
}

}  // namespace slimgraph
