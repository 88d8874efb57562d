// Memory for many lists that are all freed at once.
#pragma once

#include <memory>

#include "dkudu/internal/kernel/sets.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/types.h"

namespace slimgraph::dkudu {

class Arena {
 public:
  // A page that is reserved but never written takes no memory.
  explicit Arena(std::size_t elements)
      : memory_(std::make_unique_for_overwrite<VertexId[]>(elements + kSetSlack)),
        elements_(elements) {}

  // Memory for `count` elements and kSetSlack. Keep() then says how many elements stay.
  VertexId* Reserve(std::size_t count) {
    SLIM_CHECK(used_ + count <= elements_);
    return memory_.get() + used_;
  }
  void Keep(std::size_t count) { used_ += count; }
  void Clear() { used_ = 0; }

 private:
  std::unique_ptr<VertexId[]> memory_;
  std::size_t elements_;
  std::size_t used_ = 0;
};

}  // namespace slimgraph::dkudu
