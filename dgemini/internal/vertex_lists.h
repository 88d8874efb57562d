// A list of vertices in parts: each thread fills its own part. Positions are numbered continuously
// over all parts, so the list is divided among threads without copying. Most of a thread's share is
// then what it has found itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dgemini/internal/vertex_list.h"
#include "slimgraph/base/types.h"

namespace slimgraph::dgemini {

class VertexLists {
 public:
  std::size_t size() const {
    std::size_t size = 0;
    for (const auto& part : parts_) size += part.size();
    return size;
  }
  void clear() {
    for (auto& part : parts_) part.clear();
  }
  // The part of a thread.
  VertexList& part(std::uint32_t thread) {
    if (thread >= parts_.size()) parts_.resize(thread + std::size_t{1});
    return parts_[thread];
  }

  // For each part with some of the positions first .. end-1, calls body(part, first, end), where
  // `first` and `end` are the positions within that part.
  template <typename Body>
  void ForRange(std::size_t first, std::size_t end, Body body) const {
    for (const auto& part : parts_) {
      const std::size_t last = std::min(end, part.size());
      if (first < last) body(std::span<const VertexId>(part), first, last);
      if (end <= part.size()) return;
      first -= std::min(first, part.size());
      end -= part.size();
    }
  }
  template <typename Body>
  void ForEach(Body body) const {
    for (const auto& part : parts_) {
      for (const VertexId v : part) body(v);
    }
  }

 private:
  std::vector<VertexList> parts_;
};

}  // namespace slimgraph::dgemini
