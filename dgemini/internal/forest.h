// A concurrent union-find forest over all vertices. The root of a tree is its smallest vertex.
#pragma once

#include <algorithm>
#include <cstdint>
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

  // The most common root of the wanted vertices in a sample of all vertices, and of how many of
  // them it is the root.
  struct Votes {
    VertexId root = 0;
    std::uint32_t count = 0;
  };
  template <typename Wants>
  Votes MostCommonRoot(VertexId sample, Wants wants) {
    std::map<VertexId, std::uint32_t> counts;
    Votes most;
    for (std::uint64_t i = 0; i < sample && parent_.size() > 0; ++i) {
      const auto v = static_cast<VertexId>(i * parent_.size() / sample);
      if (!wants(v)) continue;
      const VertexId root = Root(v);
      const std::uint32_t count = ++counts[root];
      if (count > most.count) most = {root, count};
    }
    return most;
  }

 private:
  VertexArray<VertexId>& parent_;
};

}  // namespace slimgraph::dgemini
