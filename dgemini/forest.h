// Trees over all vertices, joined by all threads at a time; a root is the smallest vertex of all
// that is known to hang together.
#pragma once

#include <algorithm>
#include <map>
#include <span>

#include "dgemini/atomics.h"
#include "dgemini/vertex_array.h"

namespace slimgraph {

class Forest {
 public:
  // Of vertices that are roots of their own when `parent[v]` is v.
  explicit Forest(VertexArray<VertexId>& parent) : parent_(parent) {}

  VertexId Root(VertexId v) {
    VertexId above = Load(parent_[v]);
    while (true) {
      const VertexId next = Load(parent_[above]);
      if (next == above) return above;
      Store(parent_[v], next);  // halves the way for those who come after
      v = above;
      above = next;
    }
  }
  void Join(VertexId a, VertexId b) {
    while (a != b) {
      if (a < b) std::swap(a, b);
      if (ChangeFrom(parent_[a], a, b)) return;
      a = Root(a);
      b = Root(b);
    }
  }
  void JoinAll(VertexId u, std::span<const VertexId> ids) {
    VertexId root = Root(u);
    for (const VertexId v : ids) {
      const VertexId above = Load(parent_[v]);
      if (above == root) continue;
      Join(root, above);
      root = Root(u);
    }
  }

  // Of a sample.
  VertexId MostCommonRoot() {
    constexpr std::size_t kSample = 1024;
    std::map<VertexId, int> counts;
    VertexId most = 0;
    for (std::size_t i = 0; i < kSample && parent_.size() > 0; ++i) {
      const VertexId root = Root(static_cast<VertexId>(i * parent_.size() / kSample));
      if (++counts[root] > counts[most]) most = root;
    }
    return most;
  }

 private:
  VertexArray<VertexId>& parent_;
};

}  // namespace slimgraph
