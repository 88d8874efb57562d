#include "txnlayer/graph/base_graph.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "slimgraph/graph/load.h"

namespace slimgraph::txn {
namespace {

constexpr VertexId kOffsetsAtATime = 1 << 16;

// The lists of a part lie all over the file: read(first arc, arcs, where in the part) for each.
Status ForEachList(const SlimFile& file, const VertexPart& part, std::span<const EdgeOffset> local,
                   const std::function<Status(EdgeOffset, EdgeOffset, EdgeOffset)>& read) {
  std::vector<EdgeOffset> offsets;
  for (VertexId first = 0; first < file.vertices();) {
    const VertexId end = std::min(file.vertices(), first + kOffsetsAtATime);
    offsets.resize(end - first + 1);
    SLIM_TRY(file.ReadElements(file.offsets(Direction::kOut), first, std::span(offsets)));
    for (VertexId v = first; v < end; ++v) {
      if (!part.contains(v)) continue;
      const EdgeOffset begin = offsets[v - first];
      const EdgeOffset length = offsets[v - first + 1] - begin;
      if (length > 0) SLIM_TRY(read(begin, length, local[(v - part.first) / part.stride]));
    }
    first = end;
  }
  return {};
}

}  // namespace

Status CheckBaseFile(const SlimFile& file) {
  if (file.directed() || file.may_have_duplicates() || file.weight_type() != WeightType::kNone) {
    return InputError(
        "{}: a store takes graphs that are undirected, without weights and without duplicates",
        file.path());
  }
  SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
  const VertexId count = ids.count();
  if (count == 0 || ids[count - 1] <= kMaxVertexName) return {};
  return InputError("{}: vertex {} is beyond {}, the largest id that a store can have", file.path(),
                    ids[count - 1], kMaxVertexName);
}

Status BaseSource::ReadVertexProperties(VertexId, MutableBytes) const { return {}; }
Status BaseSource::ReadEdgeProperties(EdgeOffset, MutableBytes) const { return {}; }
Status BaseSource::ReadEdgeTimes(EdgeOffset, std::span<GraphTime>) const { return {}; }

Result<std::unique_ptr<BaseGraph>> BaseGraph::Load(Cluster& cluster, const BaseSource& source,
                                                   const GraphShape& shape,
                                                   std::uint32_t replicas) {
  std::unique_ptr<BaseGraph> base(new BaseGraph());
  const SlimFile* const file = source.file();
  base->nodes_ = cluster.topology().nodes();
  if (file != nullptr) {
    SLIM_TRY(CheckBaseFile(*file));
    SLIM_ASSIGN(base->ids_, file->ReadOriginalIds());
    base->arcs_ = file->arcs();
    base->edges_ = file->edges();
    base->has_vertex_properties_ = source.has_vertex_properties();
    base->has_edge_properties_ = source.has_edge_properties();
    base->has_edge_times_ = source.has_edge_times();
    SLIM_TRY(base->ReadIndex(*file, base->nodes_));
  }
  const HashPartition partition(base->vertices(), base->nodes_, 1);
  for (Rank rank = 0; rank < replicas; ++rank) {
    const NodeId held = (cluster.self() + base->nodes_ - rank) % base->nodes_;
    SLIM_TRY(base->LoadPart(cluster, source, shape, partition.part(held),
                            base->regions_.emplace_back()));
  }
  return base;
}

Status BaseGraph::ReadIndex(const SlimFile& file, NodeId nodes) {
  const HashPartition partition(vertices(), nodes, 1);
  for (NodeId node = 0; node < nodes; ++node) {
    index_.emplace_back(ListCode(vertices()));
    index_.back().Reserve(partition.part(node).count);
  }
  std::vector<EdgeOffset> offsets;
  for (VertexId first = 0; first < vertices();) {
    const VertexId end = std::min(vertices(), first + kOffsetsAtATime);
    offsets.resize(end - first + 1);
    SLIM_TRY(file.ReadElements(file.offsets(Direction::kOut), first, std::span(offsets)));
    for (VertexId v = first; v < end; ++v) {
      if (offsets[v - first + 1] < offsets[v - first] || offsets[v - first + 1] > arcs_) {
        return InputError("{}: the offsets of its lists fall", file.path());
      }
      index_[partition.owner(v)].Append(offsets[v - first + 1] - offsets[v - first]);
    }
    first = end;
  }
  for (CompactOffsets& index : index_) {
    index.Finish();
    list_bytes_ += index.bytes();
  }
  return {};
}

Status BaseGraph::LoadPart(Cluster& cluster, const BaseSource& source, const GraphShape& shape,
                           const VertexPart& part, Regions& regions) {
  const SlimFile* const file = source.file();
  if (file == nullptr) return {};
  Fabric& fabric = cluster.fabric();
  SLIM_ASSIGN(const EdgeOffset arcs, CountArcs(*file, part, Direction::kOut));
  const auto share = [&](std::uint64_t bytes, RegionId& id) -> Result<MutableBytes> {
    SLIM_ASSIGN(const SharedRegion region, fabric.Share(std::max<std::uint64_t>(bytes, 8)));
    id = region.id;
    return region.memory.first(bytes);
  };
  SLIM_ASSIGN(const MutableBytes lists, share(arcs * sizeof(VertexId), regions.lists));
  list_bytes_ += lists.size();
  std::vector<EdgeOffset> offsets(std::size_t{part.count} + 1);
  const std::span ids(reinterpret_cast<VertexId*>(lists.data()), arcs);
  SLIM_TRY(LoadLists(*file, part, Direction::kOut, {offsets, ids, {}}, 1));
  if (has_edge_properties_) {
    SLIM_ASSIGN(const MutableBytes room, share(arcs * shape.edge_bytes, regions.edge_properties));
    property_bytes_ += room.size();
    SLIM_TRY(ForEachList(*file, part, offsets, [&](auto from, auto length, auto to) {
      return source.ReadEdgeProperties(
          from, room.subspan(to * shape.edge_bytes, length * shape.edge_bytes));
    }));
  }
  if (has_edge_times_) {
    SLIM_ASSIGN(const MutableBytes room, share(arcs * sizeof(GraphTime), regions.edge_times));
    property_bytes_ += room.size();
    const std::span times(reinterpret_cast<GraphTime*>(room.data()), arcs);
    SLIM_TRY(ForEachList(*file, part, offsets, [&](auto from, auto length, auto to) {
      return source.ReadEdgeTimes(from, times.subspan(to, length));
    }));
  }
  if (has_vertex_properties_) {
    const std::uint64_t each = shape.vertex_bytes;
    SLIM_ASSIGN(const MutableBytes room, share(part.count * each, regions.vertex_properties));
    property_bytes_ += room.size();
    for (VertexId local = 0; local < part.count; ++local) {
      SLIM_TRY(source.ReadVertexProperties(part[local], room.subspan(local * each, each)));
    }
  }
  return {};
}

BaseGraph::Vertex BaseGraph::At(VertexId dense) const {
  Vertex vertex{dense, dense % nodes_, dense / nodes_, 0, 0};
  const CompactOffsets::Place place = index_[vertex.partition].Find(vertex.local);
  vertex.begin = place.begin;
  vertex.length = place.length;
  return vertex;
}

std::pair<BaseGraph::Vertex, EdgeOffset> BaseGraph::Arc(EdgeOffset number) const {
  NodeId partition = 0;
  for (;; ++partition) {
    const EdgeOffset arcs = index_[partition].group_begin(index_[partition].groups());
    if (number < arcs) break;
    number -= arcs;
  }
  const CompactOffsets& index = index_[partition];
  VertexId first = 0;
  for (VertexId end = index.groups(); end - first > 1;) {
    const VertexId middle = first + (end - first) / 2;
    (index.group_begin(middle) <= number ? first : end) = middle;
  }
  Vertex vertex{0, partition, 0, 0, 0};
  const VertexId begin = first * CompactOffsets::kGroup;
  const VertexId end = std::min(index.count(), begin + CompactOffsets::kGroup);
  index.VisitGroup(first, begin, end, [&](VertexId local, CompactOffsets::Place place) {
    if (number < place.begin || number >= place.begin + place.length) return;
    vertex = {local * nodes_ + partition, partition, local, place.begin, place.length};
  });
  return {vertex, number - vertex.begin};
}

std::optional<BaseGraph::Vertex> BaseGraph::Find(VertexName name) const {
  const auto dense = ids_.Find(name);
  if (!dense) return std::nullopt;
  return At(*dense);
}

}  // namespace slimgraph::txn
