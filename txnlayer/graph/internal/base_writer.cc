#include "txnlayer/graph/internal/base_writer.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "txnlayer/graph_model/merge_changes.h"

namespace slimgraph::txn {

BaseWriter::Memory::Memory(Fabric& fabric, const BaseGraph::Regions& regions)
    : marks(fabric.own_region(regions.edge_marks)),
      records(fabric.own_region(regions.edge_records)) {
  const MutableBytes bytes = fabric.own_region(regions.lists);
  lists = {reinterpret_cast<VertexId*>(bytes.data()), bytes.size() / sizeof(VertexId)};
}

BaseWriter::BaseWriter(TransactionalGraph& graph, const DenseIdMap& ids, Rank rank)
    : base_(graph.base()),
      rank_(rank),
      ids_(ids),
      shape_(graph.shape()),
      current_(graph.engine().cluster().fabric(), base_.regions(rank)),
      next_(graph.engine().cluster().fabric(), base_.spare(rank)),
      marks_(graph.shape(), next_.marks, next_.records) {}

bool BaseWriter::AddList(VertexId vertex, std::span<const EdgeChange> changes, Bytes properties) {
  BaseGraph::Vertex in_base;
  if (vertex < base_.vertices()) in_base = base_.At(vertex);
  if (sums_.arcs + in_base.length + changes.size() > base_.spare_arcs(rank_)) return false;
  const EdgeOffset before = sums_.arcs;
  MergeChanges(
      ids_, current_.lists.subspan(in_base.begin, in_base.length), changes, NeighbourOf,
      [&](EdgeOffset first, EdgeOffset count) { Copy(in_base.begin + first, count); },
      [&](const EdgeChange& change) {
        if (change.alive()) Add(change, properties);
      });
  const EdgeOffset length = sums_.arcs - before;
  lengths_.push_back(static_cast<std::uint32_t>(length));
  const auto written = next_.lists.subspan(before, length);
  const std::size_t loop = ids_.LowerBound(written, ids_[vertex]);
  if (loop < length && written[loop] == vertex) ++sums_.loops;
  return true;
}

// Copies edges of the base that no change names. There is at least one.
void BaseWriter::Copy(EdgeOffset first, EdgeOffset count) {
  std::copy_n(current_.lists.begin() + static_cast<std::ptrdiff_t>(first), count,
              next_.lists.begin() + static_cast<std::ptrdiff_t>(sums_.arcs));
  if (base_.has_marks()) {
    const MarkRange range(first, count);
    const auto* const marks =
        reinterpret_cast<const EdgeMarks*>(current_.marks.data()) + range.first_block;
    const std::uint64_t each = EdgeRecordBytes(shape_);
    marks_.Copy(range, marks, current_.records.data() + range.FirstRecord(marks) * each);
  } else {
    marks_.Skip(count);
  }
  sums_.arcs += count;
}

void BaseWriter::Add(const EdgeChange& change, Bytes properties) {
  const auto neighbour = ids_.Find(change.neighbour());
  SLIM_CHECK(neighbour, "an edge leads to a vertex without a dense id");
  next_.lists[sums_.arcs++] = *neighbour;
  marks_.Append(change.time(), properties.data() + change.properties_index * shape_.edge_bytes);
}

}  // namespace slimgraph::txn
