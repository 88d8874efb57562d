// A graph whose edges all have the weight 1, over the lists of another graph. So an algorithm that
// needs weights runs on a graph without them, or counts edges in a graph that has some.
#pragma once

#include "slimgraph/files/graph_source.h"

namespace slimgraph {

class UnitWeights : public GraphSource {
 public:
  // `graph` must outlive this object.
  explicit UnitWeights(const GraphSource& graph);

  std::uint64_t file_bytes() const override { return graph_.file_bytes(); }
  using GraphSource::has;
  bool has(SectionKind kind) const override;
  std::uint64_t section_bytes(SectionKind kind) const override;
  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const override;
  Result<OriginalIds> ReadOriginalIds() const override { return graph_.ReadOriginalIds(); }

 private:
  const GraphSource& graph_;
};

}  // namespace slimgraph
