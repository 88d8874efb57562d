// One node's lists of a part, in memory that no other node reads.
#pragma once

#include "slimgraph/base/page_buffer.h"
#include "slimgraph/graph/load.h"

namespace slimgraph {

class OwnLists {
 public:
  // In memory of `socket`; `arcs` is what CountArcs tells, the rest as for LoadLists.
  static Result<OwnLists> Load(const GraphSource& file, const VertexPart& part, EdgeOffset arcs,
                               Direction direction, bool weights, std::uint32_t socket,
                               std::size_t threads, const ListWatch& watch);

  const ListSpans& spans() const { return spans_; }

 private:
  OwnLists() = default;
  Result<MutableBytes> Take(std::uint64_t bytes, std::uint32_t socket);

  std::vector<PageBuffer> memory_;
  ListSpans spans_;
};

}  // namespace slimgraph
