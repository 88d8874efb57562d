// A concurrent union-find forest over all vertices. The root of a tree is its smallest vertex.
#pragma once

#include <algorithm>
#include <map>
#include <span>

#include "dgemini/internal/atomics.h"
#include "dgemini/vertex_array.h"

namespace slimgraph::dgemini {

class Forest {
 public:
  // A vertex v with parent[v] == v is a root.
  explicit Forest(VertexArray<VertexId>& parent) : parent_(parent) {}

  VertexId Root(VertexId v) {
    VertexId above = Load(parent_[v]);
    while (true) {
      const VertexId next = Load(parent_[above]);
      if (next == above) return above;
      Store(parent_[v], next);  // path halving
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

  // The most common root of a sample of vertices.
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

}  // namespace slimgraph::dgemini
