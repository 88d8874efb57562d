#include "txnlayer/graph/base_writer.h"

#include <algorithm>

namespace slimgraph::txn {

BaseWriter::Memory::Memory(Fabric& fabric, const BaseGraph::Regions& regions)
    : marks(fabric.own_region(regions.edge_marks)),
      records(fabric.own_region(regions.edge_records)) {
  const MutableBytes bytes = fabric.own_region(regions.lists);
  lists = {reinterpret_cast<VertexId*>(bytes.data()), bytes.size() / sizeof(VertexId)};
}

BaseWriter::BaseWriter(TransactionalGraph& graph, const OriginalIds& ids, Rank rank)
    : base_(graph.base()),
      rank_(rank),
      ids_(ids),
      shape_(graph.shape()),
      now_(graph.engine().cluster().fabric(), base_.regions(rank)),
      next_(graph.engine().cluster().fabric(), base_.spare(rank)),
      marks_(graph.shape(), next_.marks, next_.records) {}

bool BaseWriter::AddList(VertexId vertex, std::span<const EdgeChange> changes, Bytes properties) {
  BaseGraph::Vertex place;
  if (vertex < base_.vertices()) place = base_.At(vertex);
  if (sums_.arcs + place.length + changes.size() > base_.spare_arcs(rank_)) return false;
  const EdgeOffset before = sums_.arcs;
  const std::span<const VertexId> list = now_.lists.subspan(place.begin, place.length);
  EdgeOffset at = 0;
  for (const EdgeChange& change : changes) {
    const VertexId neighbour = *ids_.Find(change.neighbour());
    const auto from = list.begin() + static_cast<std::ptrdiff_t>(at);
    const auto found = std::lower_bound(from, list.end(), neighbour);
    const auto up_to = static_cast<EdgeOffset>(found - list.begin());
    Copy(place.begin + at, up_to - at);
    at = up_to + (found != list.end() && *found == neighbour ? 1 : 0);
    if (change.alive()) Add(neighbour, change, properties);
  }
  Copy(place.begin + at, place.length - at);
  const EdgeOffset length = sums_.arcs - before;
  lengths_.push_back(static_cast<std::uint32_t>(length));
  const auto written = next_.lists.subspan(before, length);
  if (std::binary_search(written.begin(), written.end(), vertex)) ++sums_.loops;
  return true;
}

// Edges that no change speaks of.
void BaseWriter::Copy(EdgeOffset first, EdgeOffset count) {
  if (count == 0) return;
  std::copy_n(now_.lists.begin() + static_cast<std::ptrdiff_t>(first), count,
              next_.lists.begin() + static_cast<std::ptrdiff_t>(sums_.arcs));
  if (base_.has_marks()) {
    const MarkRange range(first, count);
    const auto* const marks =
        reinterpret_cast<const EdgeMarks*>(now_.marks.data()) + range.first_block;
    const std::uint64_t each = EdgeRecordBytes(shape_);
    marks_.Copy(range, marks, now_.records.data() + range.FirstRecord(marks) * each);
  } else {
    marks_.Skip(count);
  }
  sums_.arcs += count;
}

void BaseWriter::Add(VertexId neighbour, const EdgeChange& change, Bytes properties) {
  next_.lists[sums_.arcs++] = neighbour;
  marks_.Append(change.time(), properties.data() + change.place * shape_.edge_bytes);
}

}  // namespace slimgraph::txn
