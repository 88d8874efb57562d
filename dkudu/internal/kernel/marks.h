// A set of vertices with one byte per vertex, to test many vertices against it. A bit set would be
// smaller, but the shift for each test would cost more than the smaller table saves.
#pragma once

#include <cstdint>
#include <vector>

#include "dkudu/internal/kernel/sets.h"

namespace slimgraph::dkudu {

class Marks {
 public:
  explicit Marks(VertexId vertices) : marked_(vertices) {}

  void Set(List list) {
    for (const VertexId v : list) marked_[v] = 1;
  }
  // `list` must be the list that was set.
  void Unset(List list) {
    for (const VertexId v : list) marked_[v] = 0;
  }
  // The number of elements of the list that are in the set.
  std::size_t Count(List list) const {
    const std::uint8_t* const marked = marked_.data();
    std::size_t a = 0;
    std::size_t b = 0;
    std::size_t i = 0;
    for (; i + 4 <= list.size(); i += 4) {
      a += std::size_t{marked[list[i]]} + marked[list[i + 1]];
      b += std::size_t{marked[list[i + 2]]} + marked[list[i + 3]];
    }
    for (; i < list.size(); ++i) a += marked[list[i]];
    return a + b;
  }

  // The same for lists of a directed graph, whose entries have a bit for arcs (ListPart::kArcs).
  void SetArcs(List entries) {
    for (const VertexId entry : entries) {
      marked_[entry / 2] = static_cast<std::uint8_t>(kMarked | (entry % 2) << 1);
    }
  }
  void UnsetArcs(List entries) {
    for (const VertexId entry : entries) marked_[entry / 2] = 0;
  }
  struct ArcCounts {
    std::uint64_t to_marked = 0;  // entries with an arc, of vertices in the set
    std::uint64_t from_set = 0;   // entries of vertices that were set with an arc
  };
  ArcCounts CountArcs(List entries) const {
    const std::uint8_t* const marked = marked_.data();
    ArcCounts counts;
    for (const VertexId entry : entries) {
      const std::uint32_t mark = marked[entry / 2];
      counts.to_marked += mark & entry & kMarked;
      counts.from_set += mark >> 1;
    }
    return counts;
  }

 private:
  static constexpr std::uint32_t kMarked = 1;
  std::vector<std::uint8_t> marked_;
};

}  // namespace slimgraph::dkudu
