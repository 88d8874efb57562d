// Room for many lists that go away together.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph {

class Arena {
 public:
  // Room for `count` elements, of which Keep() says how many stay. What was kept before does not
  // move.
  VertexId* Reserve(std::size_t count) {
    while (block_ < blocks_.size() && blocks_[block_].size - used_ < count) {
      ++block_;
      used_ = 0;
    }
    if (block_ == blocks_.size()) {
      const std::size_t size = std::max(count, kBlockElements);
      blocks_.push_back({std::make_unique_for_overwrite<VertexId[]>(size), size});
    }
    return blocks_[block_].memory.get() + used_;
  }
  void Keep(std::size_t count) { used_ += count; }
  void Clear() { block_ = used_ = 0; }

 private:
  static constexpr std::size_t kBlockElements = 1 << 14;
  struct Block {
    std::unique_ptr<VertexId[]> memory;
    std::size_t size;
  };
  std::vector<Block> blocks_;
  std::size_t block_ = 0;
  std::size_t used_ = 0;
};

}  // namespace slimgraph
