// Where each vertex's list lies in its home's region, so that one one-sided read fetches it. Each
// node tells the sizes of its own lists once, at load; about 4.5 bytes per vertex stay.
#pragma once

#include <cstdint>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

class Displacements {
 public:
  // `sizes[h]`: the list sizes (std::uint32_t) of home h's vertices h, h + N, h + 2N, …, as bytes.
  static Result<Displacements> Make(VertexId vertices,
                                    const std::vector<std::vector<std::byte>>& sizes);

  // The position of the list of home's index-th vertex; index may be one beyond the last.
  std::uint64_t begin(NodeId home, VertexId index) const {
    const Home& at = homes_[home];
    return at.base[index / kBlock] + at.low[index];
  }
  std::uint64_t begin(VertexId v) const { return begin(v % nodes(), v / nodes()); }
  std::uint32_t size(VertexId v) const {
    const NodeId home = v % nodes();
    const VertexId index = v / nodes();
    return static_cast<std::uint32_t>(begin(home, index + 1) - begin(home, index));
  }
  NodeId nodes() const { return static_cast<NodeId>(homes_.size()); }
  VertexId count(NodeId home) const { return static_cast<VertexId>(homes_[home].low.size() - 1); }
  std::uint64_t total(NodeId home) const { return begin(home, count(home)); }
  std::uint64_t total() const;

 private:
  static constexpr VertexId kBlock = 16;
  struct Home {
    std::vector<std::uint64_t> base;  // of each block of vertices
    std::vector<std::uint32_t> low;   // of each vertex, from its block's base
  };
  std::vector<Home> homes_;
};

}  // namespace slimgraph
