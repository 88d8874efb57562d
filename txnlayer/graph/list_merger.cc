#include "txnlayer/graph/list_merger.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "txnlayer/graph/edge_marks.h"

namespace slimgraph::txn {

ListMerger::ListMerger(TransactionalGraph& graph, const PartitionHolders& holders, NodeId self,
                       const SnapshotVertices& vertices, const EdgeChanges& changes)
    : base_(graph.base()),
      shape_(graph.shape()),
      self_(self),
      vertices_(vertices),
      changes_(changes.edges),
      properties_(changes.properties),
      ids_(vertices.Ids()),
      lists_(holders.holder.size()),
      marks_(holders.holder.size()),
      records_(holders.holder.size()) {
  for (const auto& [partition, rank] : holders.mine) {
    if (base_.vertices() == 0) break;
    Fabric& fabric = graph.engine().cluster().fabric();
    const Bytes bytes = fabric.own_region(base_.regions(rank).lists);
    marks_[partition] = fabric.own_region(base_.regions(rank).edge_marks);
    records_[partition] = fabric.own_region(base_.regions(rank).edge_records);
    lists_[partition] = {reinterpret_cast<const VertexId*>(bytes.data()),
                         bytes.size() / sizeof(VertexId)};
    most_arcs_ += base_.arcs_of(partition);
  }
  FindNewIds();
  plain_ = new_ids_.empty() && !shape_.directed;
  // Mostly there are none, and need not be looked for.
  may_have_loops_ = shape_.directed || base_.arcs() != 2 * base_.edges() ||
                    std::any_of(changes_.begin(), changes_.end(), [](const EdgeChange& change) {
                      return change.alive() && change.vertex() == change.neighbour();
                    });
}

void ListMerger::Merge(Direction direction, Target& into, std::vector<std::uint8_t>& holders,
                       std::vector<std::uint32_t>& lengths) {
  std::vector<BaseGraph::Vertex> places(lists_.size());  // by partition: the last
  for (NodeId partition = 0; partition < std::min<std::size_t>(places.size(), base_.vertices());
       ++partition) {
    places[partition] = base_.At(partition);
  }
  VertexId next = 0;
  auto change = changes_.begin();
  vertices_.ForEach([&](VertexName name, NodeId holder, std::optional<VertexId> dense) {
    const VertexId id = VertexOfSide(shape_, next++);
    if (shape_.directed && DirectionOf(shape_, name) != direction) return;
    holders.push_back(static_cast<std::uint8_t>(holder));
    if (holder != self_) return;
    while (change != changes_.end() && change->vertex() < name) ++change;
    const auto first = change;
    while (change != changes_.end() && change->vertex() == name) ++change;
    BaseGraph::Vertex in_base;
    if (dense) {
      BaseGraph::Vertex& place = places[*dense % places.size()];
      place = base_.After(place, *dense);
      in_base = place;
    }
    const VertexId* const begin = into.list;
    MergeList(in_base, std::span(first, change), into);
    lengths.push_back(static_cast<std::uint32_t>(into.list - begin));
    if (may_have_loops_ && direction == Direction::kOut &&
        std::binary_search(begin, static_cast<const VertexId*>(into.list), id)) {
      ++loops_;
    }
  });
}

void ListMerger::FindNewIds() {
  if (vertices_.same()) return;
  new_ids_.resize(base_.vertices());
  VertexId next = 0;
  vertices_.ForEach([&](VertexName, NodeId, std::optional<VertexId> dense) {
    if (dense) new_ids_[*dense] = VertexOfSide(shape_, next);
    ++next;
  });
}

// What no change speaks of: a part of a list of the base.
void ListMerger::Copy(NodeId partition, const VertexId* from, const VertexId* to,
                      Target& into) const {
  if (shape_.weights != WeightType::kNone) CopyWeights(partition, from, to, into);
  if (plain_) {
    into.list = std::copy(from, to, into.list);
  } else if (new_ids_.empty()) {
    into.list = std::transform(from, to, into.list,
                               [&](VertexId dense) { return VertexOfSide(shape_, dense); });
  } else {
    into.list =
        std::transform(from, to, into.list, [&](VertexId dense) { return new_ids_[dense]; });
  }
}

void ListMerger::CopyWeights(NodeId partition, const VertexId* from, const VertexId* to,
                             Target& into) const {
  if (from == to) return;
  const auto first = static_cast<EdgeOffset>(from - lists_[partition].data());
  const auto count = static_cast<EdgeOffset>(to - from);
  const std::size_t bytes = shape_.weight_bytes();
  std::byte* const weights = into.weights;
  into.weights = std::fill_n(weights, count * bytes, std::byte{0});
  if (!base_.has_marks()) return;
  const MarkRange range(first, count);
  const auto* const marks =
      reinterpret_cast<const EdgeMarks*>(marks_[partition].data()) + range.first_block;
  const std::uint64_t each = EdgeRecordBytes(shape_);
  KnownEdge known{0, records_[partition].data() + range.FirstRecord(marks) * each};
  range.ForEach(marks, [&](EdgeOffset place) {
    std::copy_n(known.properties(), bytes, weights + place * bytes);
    known.record += each;
  });
}

// The list of one vertex: of the base what no change speaks of, and what the changes have made.
// Both are in the order of names, which is that of ids.
void ListMerger::MergeList(const BaseGraph::Vertex& vertex, std::span<const EdgeChange> changes,
                           Target& into) const {
  const VertexId* from = lists_[vertex.partition].data() + vertex.begin;
  const VertexId* const end = from + vertex.length;
  for (const EdgeChange& change : changes) {
    const VertexName name = change.neighbour();
    const VertexId* const found = std::lower_bound(
        from, end, name, [&](VertexId dense, VertexName n) { return base_.NameOf(dense) < n; });
    Copy(vertex.partition, from, found, into);
    from = found;
    if (from != end && base_.NameOf(*from) == name) ++from;
    if (!change.alive()) continue;
    const auto id = ids_.Find(name);
    SLIM_CHECK(id, "an edge leads to a vertex that is not there");
    *into.list++ = VertexOfSide(shape_, *id);
    if (shape_.weights == WeightType::kNone) continue;
    into.weights = std::copy_n(properties_.data() + change.place * shape_.edge_bytes,
                               shape_.weight_bytes(), into.weights);
  }
  Copy(vertex.partition, from, end, into);
}

}  // namespace slimgraph::txn
