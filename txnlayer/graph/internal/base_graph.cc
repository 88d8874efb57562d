#include "txnlayer/graph/internal/base_graph.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "slimgraph/base/check.h"
#include "slimgraph/graph/load.h"
#include "txnlayer/graph/internal/edge_marks.h"

namespace slimgraph::txn {
namespace {

constexpr VertexId kOffsetsAtATime = 1 << 16;
// Names with a range of at most this many are always close together.
constexpr std::uint64_t kClose = 64;
// They may also leave one gap for every 16 dense ids: a gap takes one or two bytes.
constexpr VertexId kGapsAmong = 16;

// The part's lists are scattered over the file. Calls read(first arc, arcs, where in the part) for
// each.
Status ForEachList(const GraphSource& file, const VertexPart& part,
                   std::span<const EdgeOffset> local,
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

Result<std::unique_ptr<BaseGraph>> BaseGraph::Load(Cluster& cluster, const BaseSource& source,
                                                   const GraphShape& shape, std::uint32_t replicas,
                                                   std::optional<EdgeOffset> folds) {
  std::unique_ptr<BaseGraph> base(new BaseGraph(shape));
  const SlimFile* const file = source.file();
  base->nodes_ = cluster.topology().nodes();
  std::optional<SidesSource> sides;
  Loading loading{source, file, nullptr, folds};
  if (file != nullptr) {
    SLIM_TRY(CheckBaseFile(*file));
    SLIM_CHECK(file->directed() == shape.directed && file->weight_type() == shape.weights, "{}",
               file->path());
    if (shape.directed) {
      SLIM_ASSIGN(sides, SidesSource::Of(*file));
      loading.lists = loading.sides = &*sides;
    }
    SLIM_ASSIGN(OriginalIds ids, loading.lists->ReadOriginalIds());
    base->current_.ids = DenseIdMap(std::move(ids));
    base->current_.arcs = loading.lists->arcs();
    base->current_.edges = loading.lists->edges();
    base->has_vertex_properties_ = source.has_vertex_properties();
    base->current_.has_marks = source.has_edge_properties() || source.has_edge_times() ||
                               shape.weights != WeightType::kNone;
    SLIM_TRY(base->ReadIndex(*loading.lists));
  }
  for (Rank rank = 0; rank < replicas; ++rank) {
    const NodeId held = (cluster.self() + base->nodes_ - rank) % base->nodes_;
    SLIM_TRY(base->LoadPart(cluster, loading, held));
  }
  return base;
}

Status BaseGraph::ReadIndex(const GraphSource& lists) {
  const HashPartition partition(vertices(), nodes_, 1);
  for (NodeId node = 0; node < nodes_; ++node) {
    current_.index.emplace_back(ListCode(vertices()));
    current_.index.back().Reserve(partition.part(node).count);
  }
  std::vector<EdgeOffset> offsets;
  for (VertexId first = 0; first < vertices();) {
    const VertexId end = std::min(vertices(), first + kOffsetsAtATime);
    offsets.resize(end - first + 1);
    SLIM_TRY(lists.ReadElements(lists.offsets(Direction::kOut), first, std::span(offsets)));
    for (VertexId v = first; v < end; ++v) {
      if (offsets[v - first + 1] < offsets[v - first] || offsets[v - first + 1] > current_.arcs) {
        return InputError("{}: the offsets of its lists fall", lists.path());
      }
      current_.index[partition.owner(v)].Append(offsets[v - first + 1] - offsets[v - first]);
    }
    first = end;
  }
  for (CompactOffsets& index : current_.index) {
    index.Finish();
    current_.list_bytes += index.bytes();
  }
  return {};
}

// Regions for so many arcs, and for so many vertices with properties. `folds`: with room for marks
// of all arcs, even if no edge is marked yet.
Result<BaseGraph::Regions> BaseGraph::MakeRegions(Cluster& cluster, EdgeOffset arcs,
                                                  VertexId carriers, bool folds) const {
  const EdgeOffset marked = folds || current_.has_marks ? arcs : 0;
  const auto share = [&](std::uint64_t bytes) -> Result<RegionId> {
    SLIM_ASSIGN(const SharedRegion region,
                cluster.fabric().Share(std::max<std::uint64_t>(bytes, 8)));
    return region.id;
  };
  Regions regions;
  SLIM_ASSIGN(regions.lists, share(arcs * sizeof(VertexId)));
  SLIM_ASSIGN(regions.edge_marks, share(MarkWriter::MarkBytes(marked)));
  SLIM_ASSIGN(regions.edge_records, share(marked * EdgeRecordBytes(shape_)));
  SLIM_ASSIGN(regions.vertex_properties,
              share(has_vertex_properties_ ? std::uint64_t{carriers} * shape_.vertex_bytes : 0));
  return regions;
}

Status BaseGraph::LoadPart(Cluster& cluster, const Loading& loading, NodeId partition) {
  const auto& folds = loading.folds;
  if (loading.lists == nullptr) {
    if (!folds) return {};
    spare_arcs_.push_back(*folds);
    current_.index.assign(nodes_, CompactOffsets(ListCode(0)));
    for (CompactOffsets& index : current_.index) index.Finish();
    SLIM_ASSIGN(current_.regions.emplace_back(), MakeRegions(cluster, *folds, 0, true));
    SLIM_ASSIGN(spare_.emplace_back(), MakeRegions(cluster, *folds, 0, true));
    return {};
  }
  const VertexPart part = HashPartition(vertices(), nodes_, 1).part(partition);
  const VertexPart carriers =
      HashPartition(VertexOfSide(shape_, vertices()), nodes_, 1).part(partition);
  Fabric& fabric = cluster.fabric();
  SLIM_ASSIGN(const EdgeOffset arcs, CountArcs(*loading.lists, part, Direction::kOut));
  const EdgeOffset most_arcs = arcs + folds.value_or(0);
  SLIM_ASSIGN(const Regions regions,
              MakeRegions(cluster, most_arcs, carriers.count, folds.has_value()));
  if (folds) {
    spare_arcs_.push_back(most_arcs);
    SLIM_ASSIGN(spare_.emplace_back(), MakeRegions(cluster, most_arcs, carriers.count, true));
    spare_.back().vertex_properties = regions.vertex_properties;
  }
  current_.regions.push_back(regions);
  const MutableBytes lists = fabric.own_region(regions.lists).first(arcs * sizeof(VertexId));
  current_.list_bytes += lists.size();
  std::vector<EdgeOffset> offsets(std::size_t{part.count} + 1);
  const std::span ids(reinterpret_cast<VertexId*>(lists.data()), arcs);
  std::vector<std::byte> weights(arcs * shape_.weight_bytes());
  SLIM_TRY(LoadLists(*loading.lists, part, Direction::kOut, {offsets, ids, weights}, 1));
  if (current_.has_marks) {
    MarkWriter writer(shape_, fabric.own_region(regions.edge_marks),
                      fabric.own_region(regions.edge_records));
    SLIM_TRY(LoadMarks(loading, part, offsets, weights, writer));
    current_.property_bytes += writer.bytes();
  }
  if (has_vertex_properties_) {
    const std::uint64_t each = shape_.vertex_bytes;
    const MutableBytes room = fabric.own_region(regions.vertex_properties);
    vertex_property_bytes_ += carriers.count * each;
    for (VertexId local = 0; local < carriers.count; ++local) {
      SLIM_TRY(
          loading.source.ReadVertexProperties(carriers[local], room.subspan(local * each, each)));
    }
    current_.property_bytes += carriers.count * each;
  }
  return {};
}

Status BaseGraph::LoadMarks(const Loading& loading, const VertexPart& part,
                            std::span<const EdgeOffset> offsets, Bytes weights,
                            MarkWriter& writer) const {
  const std::size_t weight = shape_.weight_bytes();
  const std::size_t extra = shape_.extra_bytes();
  std::vector<GraphTime> times;
  std::vector<std::byte> extras;
  std::vector<std::byte> properties(shape_.edge_bytes);
  const auto mark = [&](EdgeOffset from, EdgeOffset length, EdgeOffset local) -> Status {
    const EdgeOffset first = loading.sides != nullptr ? loading.sides->ArcInFile(from) : from;
    times.assign(length, 0);
    extras.assign(length * extra, std::byte{0});
    SLIM_TRY(loading.source.ReadEdgeTimes(first, times));
    SLIM_TRY(loading.source.ReadEdgeProperties(first, extras));
    for (EdgeOffset i = 0; i < length; ++i) {
      std::copy_n(extras.data() + i * extra, extra,
                  std::copy_n(weights.data() + (local + i) * weight, weight, properties.data()));
      writer.Append(times[i], properties.data());
    }
    return {};
  };
  return ForEachList(*loading.lists, part, offsets, mark);
}

// If the names beyond the largest one are close together, every name of their range gets a dense
// id, even if its vertex has not come. So ids stay in the order of names. Clients that allocate
// names in turn are not equally fast, and the gaps are for the slower ones.
BaseGraph::Contents BaseGraph::AfterVertexChanges(std::span<const VertexName> added,
                                                  std::span<const VertexName> deleted) const {
  Contents next;
  const VertexId before = vertices();
  std::vector<VertexName> more;
  for (const VertexName name : added) {
    if (!ids().Find(name)) more.push_back(name);
  }
  const auto beyond =
      before == 0 ? more.begin() : std::upper_bound(more.begin(), more.end(), ids().largest());
  const auto count = static_cast<std::uint64_t>(more.end() - beyond);
  const VertexName start = before > 0 ? ids().largest() + 1 : count > 0 ? *beyond : 0;
  if (count > 0 && more.back() - start < 4 * count + before / kGapsAmong + kClose) {
    const VertexName last = more.back();
    more.erase(beyond, more.end());
    for (VertexName name = start; name <= last; ++name) more.push_back(name);
  }
  const bool fit = more.size() < std::numeric_limits<VertexId>::max() - before;
  next.ids = fit ? ids().With(more) : ids();
  next.dead = current_.dead;
  next.dead.resize((next.ids.count() + 63) / 64);
  const auto bit = [](VertexId dense) { return std::uint64_t{1} << (dense % 64); };
  for (VertexId dense = before; dense < next.ids.count(); ++dense)
    next.dead[dense / 64] |= bit(dense);
  for (const VertexName name : added) {
    if (const auto dense = next.ids.Find(name)) next.dead[*dense / 64] &= ~bit(*dense);
  }
  for (const VertexName name : deleted) {
    if (const auto dense = next.ids.Find(name)) next.dead[*dense / 64] |= bit(*dense);
  }
  for (const std::uint64_t bits : next.dead)
    next.gaps += static_cast<VertexId>(std::popcount(bits));
  return next;
}

BaseGraph::Contents BaseGraph::WithDenseIds(std::span<const VertexName> more,
                                            std::span<const VertexName> dead) const {
  Contents next;
  next.ids = ids().With(more);
  next.dead.resize((next.ids.count() + 63) / 64);
  for (const VertexName name : dead) {
    const auto dense = next.ids.Find(name);
    if (!dense) continue;
    next.dead[*dense / 64] |= std::uint64_t{1} << (*dense % 64);
    ++next.gaps;
  }
  return next;
}

BaseGraph::Contents BaseGraph::Switch(Contents next) {
  next.property_bytes += vertex_property_bytes_;
  Contents before = std::move(static_cast<Contents&>(current_));
  before.property_bytes -= vertex_property_bytes_;
  static_cast<Contents&>(current_) = std::move(next);
  std::swap(current_.regions, spare_);
  return before;
}

BaseGraph::Vertex BaseGraph::At(VertexId dense) const {
  Vertex vertex{dense, dense % nodes_, dense / nodes_, 0, 0};
  const auto list = current_.index[vertex.partition].FindArcs(vertex.local);
  vertex.begin = list.begin;
  vertex.length = list.length;
  return vertex;
}

BaseGraph::Vertex BaseGraph::After(const Vertex& before, VertexId dense) const {
  if (dense != before.dense + nodes_) return At(dense);
  const VertexId local = before.local + 1;
  return {dense, before.partition, local, before.begin + before.length,
          current_.index[before.partition].length(local)};
}

BaseGraph::Vertex BaseGraph::ListOf(EdgeOffset& number) const {
  NodeId partition = 0;
  for (;; ++partition) {
    const EdgeOffset arcs = arcs_of(partition);
    if (number < arcs) break;
    number -= arcs;
  }
  const VertexId local = current_.index[partition].ListOf(number);
  return {local * nodes_ + partition, partition, local, 0, 0};
}

std::pair<BaseGraph::Vertex, EdgeOffset> BaseGraph::Arc(EdgeOffset number) const {
  Vertex vertex = ListOf(number);
  const auto list = current_.index[vertex.partition].FindArcs(vertex.local);
  vertex.begin = list.begin;
  vertex.length = list.length;
  return {vertex, number - list.begin};
}

std::optional<BaseGraph::Vertex> BaseGraph::Find(VertexName name) const {
  const auto dense = DenseOf(name);
  if (!dense) return std::nullopt;
  return At(*dense);
}

}  // namespace slimgraph::txn
