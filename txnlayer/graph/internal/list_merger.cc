#include "txnlayer/graph/internal/list_merger.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "txnlayer/graph/internal/edge_marks.h"
#include "txnlayer/graph_model/merge_changes.h"

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
      lists_(holders.primary_of.size()),
      marks_(holders.primary_of.size()),
      records_(holders.primary_of.size()) {
  for (const auto& [partition, rank] : holders.primaries) {
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
  // Most graphs have no loops, and then none have to be searched for.
  may_have_loops_ = shape_.directed || base_.arcs() != 2 * base_.edges() ||
                    std::any_of(changes_.begin(), changes_.end(), [](const EdgeChange& change) {
                      return change.alive() && change.vertex() == change.neighbour();
                    });
}

void ListMerger::Merge(Direction direction, Target& into, std::vector<std::uint16_t>& holders,
                       std::vector<std::uint32_t>& lengths) {
  std::vector<BaseGraph::Vertex> last_visited(
      lists_.size());  // by partition: the last vertex visited
  for (NodeId partition = 0;
       partition < std::min<std::size_t>(last_visited.size(), base_.vertices()); ++partition) {
    last_visited[partition] = base_.At(partition);
  }
  VertexId next = 0;
  auto change = changes_.begin();
  vertices_.ForEach([&](VertexName name, NodeId holder, std::optional<VertexId> dense) {
    const VertexId id = VertexOfSide(shape_, next++);
    if (shape_.directed && DirectionOf(shape_, name) != direction) return;
    holders.push_back(static_cast<std::uint16_t>(holder));
    if (holder != self_) return;
    while (change != changes_.end() && change->vertex() < name) ++change;
    const auto first = change;
    while (change != changes_.end() && change->vertex() == name) ++change;
    BaseGraph::Vertex in_base;
    if (dense) {
      BaseGraph::Vertex& last = last_visited[*dense % last_visited.size()];
      last = base_.After(last, *dense);
      in_base = last;
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
  if (vertices_.same_as_base()) return;
  new_ids_.resize(base_.vertices());
  VertexId next = 0;
  vertices_.ForEach([&](VertexName, NodeId, std::optional<VertexId> dense) {
    if (dense) new_ids_[*dense] = VertexOfSide(shape_, next);
    ++next;
  });
}

// Copies a non-empty part of a list of the base that no change names.
void ListMerger::Copy(NodeId partition, std::span<const VertexId> part, Target& into) const {
  if (shape_.weights != WeightType::kNone) CopyWeights(partition, part, into);
  if (plain_) {
    into.list = std::copy(part.begin(), part.end(), into.list);
  } else if (new_ids_.empty()) {
    into.list = std::transform(part.begin(), part.end(), into.list,
                               [&](VertexId dense) { return VertexOfSide(shape_, dense); });
  } else {
    into.list = std::transform(part.begin(), part.end(), into.list,
                               [&](VertexId dense) { return new_ids_[dense]; });
  }
}

void ListMerger::CopyWeights(NodeId partition, std::span<const VertexId> part, Target& into) const {
  const auto first = static_cast<EdgeOffset>(part.data() - lists_[partition].data());
  const auto count = static_cast<EdgeOffset>(part.size());
  const std::size_t bytes = shape_.weight_bytes();
  std::byte* const weights = into.weights;
  into.weights = std::fill_n(weights, count * bytes, std::byte{0});
  if (!base_.has_marks()) return;
  const MarkRange range(first, count);
  const auto* const marks =
      reinterpret_cast<const EdgeMarks*>(marks_[partition].data()) + range.first_block;
  const std::uint64_t each = EdgeRecordBytes(shape_);
  MarkedEdge marked{0, records_[partition].data() + range.FirstRecord(marks) * each};
  range.ForEach(marks, [&](EdgeOffset position) {
    std::copy_n(marked.properties(), bytes, weights + position * bytes);
    marked.record += each;
  });
}

// Merges the list of one vertex. The order of names is also that of the snapshot's ids.
void ListMerger::MergeList(const BaseGraph::Vertex& vertex, std::span<const EdgeChange> changes,
                           Target& into) const {
  const auto list = lists_[vertex.partition].subspan(vertex.begin, vertex.length);
  MergeChanges(
      base_.ids(), list, changes, NeighbourOf,
      [&](std::size_t first, std::size_t count) {
        Copy(vertex.partition, list.subspan(first, count), into);
      },
      [&](const EdgeChange& change) {
        if (!change.alive()) return;
        const auto id = ids_.Find(change.neighbour());
        SLIM_CHECK(id, "an edge leads to a vertex that does not exist");
        *into.list++ = VertexOfSide(shape_, *id);
        if (shape_.weights == WeightType::kNone) return;
        into.weights = std::copy_n(properties_.data() + change.properties_index * shape_.edge_bytes,
                                   shape_.weight_bytes(), into.weights);
      });
}

}  // namespace slimgraph::txn
