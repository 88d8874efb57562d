// One node's lists of a part, in private memory that no other node can read.
#pragma once

#include "slimgraph/base/page_buffer.h"
#include "slimgraph/graph/load.h"

namespace slimgraph {

class PrivateLists {
 public:
  // Loads the lists into memory of `socket`. `arcs` is the result of CountArcs; the other arguments
  // are those of LoadLists.
  static Result<PrivateLists> Load(const GraphSource& file, const VertexPart& part, EdgeOffset arcs,
                                   Direction direction, bool weights, std::uint32_t socket,
                                   std::size_t threads, const ListObserver& watch);

  const ListSpans& spans() const { return spans_; }

 private:
  PrivateLists() = default;
  Result<MutableBytes> Take(std::uint64_t bytes, std::uint32_t socket);

  std::vector<PageBuffer> memory_;
  ListSpans spans_;
};

}  // namespace slimgraph
