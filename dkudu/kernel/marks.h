// A set of vertices as one bit each, for testing many against it.
#pragma once

#include <cstdint>
#include <vector>

#include "dkudu/kernel/sets.h"

namespace slimgraph {

class Marks {
 public:
  explicit Marks(VertexId vertices) : words_(vertices / 64 + 1) {}

  void Set(List list) {
    for (const VertexId v : list) words_[v / 64] |= std::uint64_t{1} << (v % 64);
  }
  // `list` is what was set.
  void Unset(List list) {
    for (const VertexId v : list) words_[v / 64] = 0;
  }
  bool Has(VertexId v) const { return (words_[v / 64] >> (v % 64) & 1) != 0; }
  std::size_t Count(List list) const {
    std::size_t count = 0;
    for (const VertexId v : list) count += words_[v / 64] >> (v % 64) & 1;
    return count;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace slimgraph
