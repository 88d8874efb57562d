#include "txnlayer/graph/base_graph.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "slimgraph/base/check.h"
#include "slimgraph/graph/load.h"
#include "txnlayer/graph/edge_marks.h"

namespace slimgraph::txn {
namespace {

constexpr VertexId kOffsetsAtATime = 1 << 16;
// So many names between two are always close.
constexpr std::uint64_t kClose = 64;
// And one for so many places that there are: each takes a byte or two.
constexpr VertexId kGapsAmong = 16;

// The lists of a part lie all over the file: read(first arc, arcs, where in the part) for each.
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

Status CheckBaseFile(const SlimFile& file) {
  if (file.may_have_duplicates()) {
    return InputError("{}: a store takes graphs without duplicates", file.path());
  }
  if (!file.has(Direction::kIn)) {
    return InputError("{}: a store takes incoming lists as well: convert it without --no-reverse",
                      file.path());
  }
  SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
  const VertexId count = ids.count();
  const VertexName most = MaxVertexName(file.directed());
  if (count == 0 || ids[count - 1] <= most) return {};
  return InputError("{}: vertex {} is beyond {}, the largest id that {} store can have",
                    file.path(), ids[count - 1], most, file.directed() ? "a directed" : "a");
}

Status BaseSource::ReadVertexProperties(VertexId, MutableBytes) const { return {}; }
Status BaseSource::ReadEdgeProperties(EdgeOffset, MutableBytes) const { return {}; }
Status BaseSource::ReadEdgeTimes(EdgeOffset, std::span<GraphTime>) const { return {}; }

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
    SLIM_ASSIGN(base->now_.ids, loading.lists->ReadOriginalIds());
    base->now_.arcs = loading.lists->arcs();
    base->now_.edges = loading.lists->edges();
    base->has_vertex_properties_ = source.has_vertex_properties();
    base->now_.has_marks = source.has_edge_properties() || source.has_edge_times() ||
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
    now_.index.emplace_back(ListCode(vertices()));
    now_.index.back().Reserve(partition.part(node).count);
  }
  std::vector<EdgeOffset> offsets;
  for (VertexId first = 0; first < vertices();) {
    const VertexId end = std::min(vertices(), first + kOffsetsAtATime);
    offsets.resize(end - first + 1);
    SLIM_TRY(lists.ReadElements(lists.offsets(Direction::kOut), first, std::span(offsets)));
    for (VertexId v = first; v < end; ++v) {
      if (offsets[v - first + 1] < offsets[v - first] || offsets[v - first + 1] > now_.arcs) {
        return InputError("{}: the offsets of its lists fall", lists.path());
      }
      now_.index[partition.owner(v)].Append(offsets[v - first + 1] - offsets[v - first]);
    }
    first = end;
  }
  for (CompactOffsets& index : now_.index) {
    index.Finish();
    now_.list_bytes += index.bytes();
  }
  return {};
}

// For so many arcs, and vertices that carry something; with all that a fold may bring, or what
// there is.
Result<BaseGraph::Regions> BaseGraph::MakeRegions(Cluster& cluster, EdgeOffset arcs,
                                                  VertexId carriers, bool folds) const {
  const EdgeOffset marked = folds || now_.has_marks ? arcs : 0;
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
    now_.index.assign(nodes_, CompactOffsets(ListCode(0)));
    for (CompactOffsets& index : now_.index) index.Finish();
    SLIM_ASSIGN(now_.regions.emplace_back(), MakeRegions(cluster, *folds, 0, true));
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
  now_.regions.push_back(regions);
  const MutableBytes lists = fabric.own_region(regions.lists).first(arcs * sizeof(VertexId));
  now_.list_bytes += lists.size();
  std::vector<EdgeOffset> offsets(std::size_t{part.count} + 1);
  const std::span ids(reinterpret_cast<VertexId*>(lists.data()), arcs);
  std::vector<std::byte> weights(arcs * shape_.weight_bytes());
  SLIM_TRY(LoadLists(*loading.lists, part, Direction::kOut, {offsets, ids, weights}, 1));
  if (now_.has_marks) {
    MarkWriter writer(shape_, fabric.own_region(regions.edge_marks),
                      fabric.own_region(regions.edge_records));
    SLIM_TRY(LoadMarks(loading, part, offsets, weights, writer));
    now_.property_bytes += writer.bytes();
  }
  if (has_vertex_properties_) {
    const std::uint64_t each = shape_.vertex_bytes;
    const MutableBytes room = fabric.own_region(regions.vertex_properties);
    vertex_property_bytes_ += carriers.count * each;
    for (VertexId local = 0; local < carriers.count; ++local) {
      SLIM_TRY(
          loading.source.ReadVertexProperties(carriers[local], room.subspan(local * each, each)));
    }
    now_.property_bytes += carriers.count * each;
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

// Places are added behind the last alone, so that all keep theirs. Names that lie close together
// all get one, whether they have come or not: so those that follow each other still do. Of clients
// that give out names in turn, one may be ahead of the others.
BaseGraph::Next BaseGraph::NextVertices(std::span<const VertexName> added,
                                        std::span<const VertexName> deleted) const {
  Next next;
  const VertexId before = vertices();
  const VertexName last = NameOf(before - 1);
  const auto fresh = added.subspan(
      static_cast<std::size_t>(std::upper_bound(added.begin(), added.end(), last) - added.begin()));
  const bool close =
      !fresh.empty() && fresh.back() - last <= 4 * fresh.size() + before / kGapsAmong + kClose;
  const std::uint64_t more = close ? fresh.back() - last : fresh.size();
  if (more == 0 || before + more >= std::numeric_limits<VertexId>::max()) {
    next.ids = ids();
  } else if (ids().contiguous() && close) {
    next.ids = OriginalIds(ids().first(), before + static_cast<VertexId>(more));
  } else {
    std::vector<VertexName> names;
    for (VertexId dense = 0; dense < before; ++dense) names.push_back(NameOf(dense));
    for (std::uint64_t i = 0; i < more; ++i) names.push_back(close ? last + 1 + i : fresh[i]);
    next.ids = OriginalIds(std::move(names));
  }
  next.dead = now_.dead;
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

BaseGraph::Next BaseGraph::NextPlaces(std::span<const VertexName> more,
                                      std::span<const VertexName> dead) const {
  Next next;
  const bool close =
      ids().contiguous() && !more.empty() && more.back() == NameOf(vertices() - 1) + more.size();
  if (more.empty()) {
    next.ids = ids();
  } else if (close) {
    next.ids = OriginalIds(ids().first(), vertices() + static_cast<VertexId>(more.size()));
  } else {
    std::vector<VertexName> names;
    for (VertexId dense = 0; dense < vertices(); ++dense) names.push_back(NameOf(dense));
    names.insert(names.end(), more.begin(), more.end());
    next.ids = OriginalIds(std::move(names));
  }
  next.dead.resize((next.ids.count() + 63) / 64);
  for (const VertexName name : dead) {
    const auto dense = next.ids.Find(name);
    if (!dense) continue;
    next.dead[*dense / 64] |= std::uint64_t{1} << (*dense % 64);
    ++next.gaps;
  }
  return next;
}

BaseGraph::Next BaseGraph::Switch(Next next) {
  next.property_bytes += vertex_property_bytes_;
  Next before = std::move(static_cast<Next&>(now_));
  before.property_bytes -= vertex_property_bytes_;
  static_cast<Next&>(now_) = std::move(next);
  std::swap(now_.regions, spare_);
  return before;
}

BaseGraph::Vertex BaseGraph::At(VertexId dense) const {
  Vertex vertex{dense, dense % nodes_, dense / nodes_, 0, 0};
  const auto place = now_.index[vertex.partition].FindArcs(vertex.local);
  vertex.begin = place.begin;
  vertex.length = place.length;
  return vertex;
}

BaseGraph::Vertex BaseGraph::After(const Vertex& before, VertexId dense) const {
  if (dense != before.dense + nodes_) return At(dense);
  const VertexId local = before.local + 1;
  return {dense, before.partition, local, before.begin + before.length,
          now_.index[before.partition].length(local)};
}

BaseGraph::Vertex BaseGraph::ListOf(EdgeOffset& number) const {
  NodeId partition = 0;
  for (;; ++partition) {
    const EdgeOffset arcs = arcs_of(partition);
    if (number < arcs) break;
    number -= arcs;
  }
  const VertexId local = now_.index[partition].ListOf(number);
  return {local * nodes_ + partition, partition, local, 0, 0};
}

std::pair<BaseGraph::Vertex, EdgeOffset> BaseGraph::Arc(EdgeOffset number) const {
  Vertex vertex = ListOf(number);
  const auto place = now_.index[vertex.partition].FindArcs(vertex.local);
  vertex.begin = place.begin;
  vertex.length = place.length;
  return {vertex, number - place.begin};
}

std::optional<BaseGraph::Vertex> BaseGraph::Find(VertexName name) const {
  const auto dense = DenseOf(name);
  if (!dense) return std::nullopt;
  return At(*dense);
}

}  // namespace slimgraph::txn
