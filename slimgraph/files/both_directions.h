// A directed graph as if it were undirected: the list of a vertex has its incoming and its outgoing
// neighbours, in ascending order. A neighbour with edges both ways is in the list twice. The lists
// are merged while they are read; nothing is stored but an index of their places.
#pragma once

#include <vector>

#include "slimgraph/files/graph_source.h"

namespace slimgraph {

class BothDirections : public GraphSource {
 public:
  // `file` must be directed, have both directions, and exist as long as this object. The graph has
  // no weights.
  static Result<BothDirections> Of(const GraphSource& file);

  std::uint64_t file_bytes() const override { return file_->file_bytes(); }
  using GraphSource::has;
  bool has(SectionKind kind) const override;
  std::uint64_t section_bytes(SectionKind kind) const override;
  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const override;
  Result<OriginalIds> ReadOriginalIds() const override { return file_->ReadOriginalIds(); }

 private:
  static constexpr VertexId kStep = 4096;  // vertices between places of the index

  explicit BothDirections(const GraphSource& file);
  // Where the lists of vertices first .. first + into.size() - 1 begin in one direction.
  Status ReadOffsets(Direction direction, std::uint64_t first, std::span<EdgeOffset> into,
                     std::size_t threads) const;
  Status ReadNeighbours(EdgeOffset first, std::span<VertexId> into) const;

  const GraphSource* file_;
  std::vector<EdgeOffset> index_;  // where the list of each kStep-th vertex begins
};

}  // namespace slimgraph
