// Room for many lists that go away together.
#pragma once

#include <memory>

#include "dkudu/kernel/sets.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

class Arena {
 public:
  // Of what is not used, no page is taken.
  explicit Arena(std::size_t elements)
      : memory_(std::make_unique_for_overwrite<VertexId[]>(elements + kSetSlack)),
        elements_(elements) {}

  // Room for `count` elements and kSetSlack, of which Keep() says how many stay.
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

}  // namespace slimgraph
