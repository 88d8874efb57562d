#include "txnlayer/disk/merge.h"

#include <algorithm>
#include <numeric>

#include "slimgraph/base/parallel.h"
#include "slimgraph/files/list_writer.h"
#include "txnlayer/graph_model/merge_changes.h"

namespace slimgraph::txn {
namespace {

constexpr VertexId kGone = ~VertexId{0};
constexpr EdgeOffset kArcsAtATime = 1 << 20;
constexpr std::size_t kArcsOfARange = 1 << 12;

// An update of an edge, seen from one end. `order` numbers all updates, from 1.
struct ArcChange {
  VertexName from;
  VertexName to;
  std::uint64_t order;
};

struct VertexChange {
  bool alive = false;
  std::uint64_t last_deleted = 0;  // order; 0: never
  Bytes properties;
};

// The last update of an edge, by order.
struct EdgeUpdate {
  bool alive = false;
  GraphTime time = 0;
  Bytes properties;
};

bool ComesBefore(const ArcChange& a, const ArcChange& b) {
  if (a.from != b.from) return a.from < b.from;
  return a.to != b.to ? a.to < b.to : a.order < b.order;
}

// Partitions the changes into ranges of names that fit into a processor cache, sorts the ranges in
// parallel, and keeps the last update of each edge.
void SortArcs(std::vector<ArcChange>& arcs) {
  VertexName largest = 0;
  for (const ArcChange& arc : arcs) largest = std::max(largest, arc.from);
  const std::size_t ranges = arcs.size() / kArcsOfARange + 1;
  const auto range_of = [&](const ArcChange& arc) {
    return static_cast<std::size_t>(static_cast<unsigned __int128>(arc.from) * ranges /
                                    (largest + 1));
  };
  std::vector<std::size_t> ends(ranges + 1);
  for (const ArcChange& arc : arcs) ++ends[range_of(arc) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<ArcChange> dealt(arcs.size());
  for (const ArcChange& arc : arcs) dealt[ends[range_of(arc)]++] = arc;
  // ends[range] was advanced from the range's begin to its end.
  static_cast<void>(ParallelFor(ranges, 0, [&](std::size_t range) {
    const auto at = [&](std::size_t index) {
      return dealt.begin() + static_cast<std::ptrdiff_t>(index);
    };
    std::sort(at(range == 0 ? 0 : ends[range - 1]), at(ends[range]), ComesBefore);
    return Status();
  }));
  arcs.swap(dealt);
  // Keep the last update of each edge.
  const auto last = std::unique(arcs.rbegin(), arcs.rend(), [](const auto& a, const auto& b) {
    return a.from == b.from && a.to == b.to;
  });
  arcs.erase(arcs.begin(), last.base());
}

class Merger {
 public:
  Merger(const DiskBase& base, const GraphShape& shape) : base_(base), shape_(shape) {}

  void Take(const std::vector<Batch>& batches, GraphTime at);
  Result<Merged> Write(const std::string& lists, const std::string& properties);

 private:
  void ChooseVertices();
  Status ReadBase();
  Status WriteVertexProperties(VertexId v);
  Status WriteLists(Direction direction, ListWriter& lists);
  Status WriteList(VertexId v, Direction direction, ListWriter& lists);
  std::uint64_t LastDeleted(VertexName name) const {
    const auto found = vertices_.find(name);
    return found == vertices_.end() ? 0 : found->second.last_deleted;
  }
  // `extra`: the edge's properties without its weight.
  void AddArc(VertexId to, Bytes weight, Bytes extra, GraphTime time);

  const DiskBase& base_;
  const GraphShape shape_;
  std::unordered_map<VertexName, VertexChange> vertices_;
  std::vector<ArcChange> arcs_[2];   // by direction; undirected graphs use only the first
  std::vector<EdgeUpdate> updates_;  // by order
  bool keeps_edge_properties_ = false;
  bool keeps_vertex_properties_ = false;
  bool keeps_times_ = false;
  bool wants_properties_ = false;

  DenseIdMap old_ids_;
  // By old dense id: the new one, or kGone if the vertex was deleted and so lost its edges.
  std::vector<VertexId> renumbered_;
  OriginalIds ids_;
  std::vector<VertexId> from_;  // by new dense id: the old one, or kGone

  // State for the direction whose lists are being written.
  std::vector<EdgeOffset> offsets_;
  std::vector<VertexId> window_;  // of arcs in the base
  std::vector<std::byte> weight_window_;
  EdgeOffset window_at_ = 0;

  std::vector<ArcChange>::const_iterator next_change_;  // next in the order of names
  std::vector<VertexId> list_;
  std::vector<std::byte> list_weights_;
  std::vector<std::byte> vertex_column_;
  std::vector<std::byte> edge_column_;
  std::vector<GraphTime> time_column_;
};

void Merger::Take(const std::vector<Batch>& batches, GraphTime at) {
  std::size_t words = 0;
  for (const Batch& batch : batches) words += batch.words.size();
  updates_.reserve(words / 2 + 1);  // an edge update without properties has two words
  for (const Direction direction : DirectionsOf(shape_)) {
    arcs_[static_cast<std::size_t>(direction)].reserve(words / DirectionsOf(shape_).size());
  }
  updates_.emplace_back();
  for (const Batch& batch : batches) {
    if (batch.time > at) break;
    Update update;
    for (auto rest = batch.words; TakeUpdate(shape_, rest, update);) {
      const std::uint64_t order = updates_.size();
      updates_.push_back({update.kind == UpdateKind::kAddEdge, batch.time, update.properties});
      if (IsOfVertex(update.kind)) {
        VertexChange& vertex = vertices_[update.one];
        vertex.alive = update.kind == UpdateKind::kAddVertex;
        if (!vertex.alive) vertex.last_deleted = order;
        vertex.properties = update.properties;
        keeps_vertex_properties_ = keeps_vertex_properties_ || !update.properties.empty();
        continue;
      }
      arcs_[0].push_back({update.one, update.other, order});
      if (shape_.directed || update.one != update.other) {
        arcs_[shape_.directed ? 1 : 0].push_back({update.other, update.one, order});
      }
      keeps_edge_properties_ =
          keeps_edge_properties_ || (!update.properties.empty() && shape_.extra_bytes() > 0);
      keeps_times_ = true;
    }
  }
  for (std::vector<ArcChange>& arcs : arcs_) SortArcs(arcs);
}

// Old and new ids both ascend with the names.
void Merger::ChooseVertices() {
  std::vector<VertexName> names;
  std::vector<VertexName> fresh;
  const VertexId old_count = old_ids_.count();
  for (const auto& [name, change] : vertices_) {
    if (change.alive && !old_ids_.Find(name)) fresh.push_back(name);
  }
  std::sort(fresh.begin(), fresh.end());
  renumbered_.assign(old_count, kGone);
  std::size_t next = 0;
  const auto add = [&](VertexName name, VertexId old) {
    if (old != kGone && LastDeleted(name) == 0) {
      renumbered_[old] = static_cast<VertexId>(names.size());
    }
    names.push_back(name);
    from_.push_back(old);
  };
  for (VertexId old = 0; old < old_count; ++old) {
    const VertexName name = old_ids_[old];
    for (; next < fresh.size() && fresh[next] < name; ++next) add(fresh[next], kGone);
    const auto change = vertices_.find(name);
    if (change == vertices_.end() || change->second.alive) add(name, old);
  }
  for (; next < fresh.size(); ++next) add(fresh[next], kGone);
  const bool contiguous = names.empty() || names.back() - names.front() + 1 == names.size();
  ids_ = contiguous
             ? OriginalIds(names.empty() ? 0 : names.front(), static_cast<VertexId>(names.size()))
             : OriginalIds(std::move(names));
}

Status Merger::ReadBase() {
  if (base_.file() == nullptr) return {};
  const SlimFile& file = *base_.file();
  SLIM_ASSIGN(OriginalIds ids, file.ReadOriginalIds());
  old_ids_ = DenseIdMap(std::move(ids));
  const PropertyColumns columns = base_.columns();
  keeps_vertex_properties_ = keeps_vertex_properties_ || !columns.vertices.empty();
  keeps_edge_properties_ = keeps_edge_properties_ || !columns.edges.empty();
  keeps_times_ = keeps_times_ || !columns.times.empty();
  return {};
}

Status Merger::WriteVertexProperties(VertexId v) {
  if (!wants_properties_ || !keeps_vertex_properties_) return {};
  const std::size_t at = vertex_column_.size();
  vertex_column_.resize(at + shape_.vertex_bytes);
  const auto change = vertices_.find(ids_[v]);
  if (change != vertices_.end()) {
    const Bytes properties = change->second.properties;
    std::copy(properties.begin(), properties.end(),
              vertex_column_.begin() + static_cast<std::ptrdiff_t>(at));
    return {};
  }
  return base_.ReadVertexProperties(from_[v],
                                    MutableBytes(vertex_column_).subspan(at, shape_.vertex_bytes));
}

void Merger::AddArc(VertexId to, Bytes weight, Bytes extra, GraphTime time) {
  list_.push_back(to);
  list_weights_.resize(list_.size() * shape_.weight_bytes());
  std::copy(weight.begin(), weight.end(),
            list_weights_.end() - static_cast<std::ptrdiff_t>(shape_.weight_bytes()));
  if (!wants_properties_) return;
  if (keeps_times_) time_column_.push_back(time);
  if (!keeps_edge_properties_) return;
  const std::size_t at = edge_column_.size();
  edge_column_.resize(at + shape_.extra_bytes());
  std::copy(extra.begin(), extra.end(), edge_column_.begin() + static_cast<std::ptrdiff_t>(at));
}

Status Merger::WriteList(VertexId v, Direction direction, ListWriter& lists) {
  const std::vector<ArcChange>& arcs = arcs_[static_cast<std::size_t>(direction)];
  list_.clear();
  list_weights_.clear();
  const VertexName name = ids_[v];
  const std::size_t weight_bytes = shape_.weight_bytes();
  const VertexId old = from_[v];
  const std::uint64_t deleted = LastDeleted(name);
  std::span<const VertexId> base;
  Bytes base_weights;
  EdgeOffset first = 0;
  if (old != kGone && deleted == 0) {
    first = offsets_[old];
    const EdgeOffset length = offsets_[old + std::size_t{1}] - first;
    if (first < window_at_ || first + length > window_at_ + window_.size()) {
      const SlimFile& file = *base_.file();
      window_.resize(std::min(file.arcs() - first, std::max(kArcsAtATime, length)));
      SLIM_TRY(file.ReadElements(file.neighbours(direction), first, std::span(window_)));
      weight_window_.resize(window_.size() * weight_bytes);
      if (weight_bytes > 0) {
        SLIM_TRY(file.Read(file.weights(direction), first * weight_bytes, weight_window_));
      }
      window_at_ = first;
    }
    base = std::span<const VertexId>(window_).subspan(first - window_at_, length);
    base_weights = Bytes(weight_window_).subspan((first - window_at_) * weight_bytes);
  }
  const PropertyColumns columns = base_.columns();
  // Earlier changes belong to deleted vertices. Skip them.
  auto& next = next_change_;
  while (next != arcs.end() && next->from < name) ++next;
  const auto first_change = next;
  while (next != arcs.end() && next->from == name) ++next;
  const auto keep = [&](std::size_t at, std::size_t count) {
    const EdgeOffset side = direction == Direction::kIn ? base_.file()->arcs() : 0;
    for (const std::size_t end = at + count; at < end; ++at) {
      const VertexId dense = renumbered_[base[at]];
      if (dense == kGone) continue;
      const EdgeOffset arc = side + first + at;
      const std::size_t extra_bytes = shape_.extra_bytes();
      const Bytes extra =
          columns.edges.empty() ? Bytes() : columns.edges.subspan(arc * extra_bytes, extra_bytes);
      AddArc(dense, base_weights.subspan(at * weight_bytes, weight_bytes), extra,
             columns.times.empty() ? 0 : columns.times[arc]);
    }
  };
  const auto change = [&](const ArcChange& arc) {
    const EdgeUpdate& update = updates_[arc.order];
    const auto dense = ids_.Find(arc.to);
    if (!update.alive || !dense || arc.order < std::max(deleted, LastDeleted(arc.to))) return;
    const std::size_t weight = std::min(weight_bytes, update.properties.size());
    AddArc(*dense, update.properties.first(weight), update.properties.subspan(weight), update.time);
  };
  MergeChanges(
      old_ids_, base, std::span(first_change, next), [](const ArcChange& arc) { return arc.to; },
      keep, change);
  return lists.Append(list_, list_weights_);
}

Status Merger::WriteLists(Direction direction, ListWriter& lists) {
  if (base_.file() != nullptr) {
    const SlimFile& file = *base_.file();
    offsets_.resize(std::size_t{file.vertices()} + 1);
    SLIM_TRY(file.ReadElements(file.offsets(direction), 0, std::span(offsets_)));
  }
  window_.clear();
  next_change_ = arcs_[static_cast<std::size_t>(direction)].begin();
  for (VertexId v = 0; v < ids_.count(); ++v) SLIM_TRY(WriteList(v, direction, lists));
  return {};
}

Result<Merged> Merger::Write(const std::string& lists_path, const std::string& properties_path) {
  wants_properties_ = !properties_path.empty();
  SLIM_TRY(ReadBase());
  ChooseVertices();
  SLIM_ASSIGN(ListWriter lists, ListWriter::Create(lists_path));
  lists.CarryWeights(shape_.weights);
  for (VertexId v = 0; v < ids_.count(); ++v) SLIM_TRY(WriteVertexProperties(v));
  SLIM_TRY(WriteLists(Direction::kOut, lists));
  if (shape_.directed) {
    SLIM_TRY(lists.BeginIncoming());
    SLIM_TRY(WriteLists(Direction::kIn, lists));
  }
  Merged merged;
  merged.vertices = ids_.count();
  merged.has_properties = wants_properties_ && (!vertex_column_.empty() || !edge_column_.empty() ||
                                                !time_column_.empty());
  if (merged.has_properties) {
    SLIM_TRY(PropertyFile::Write(properties_path, {vertex_column_, edge_column_, time_column_}));
  }
  SLIM_ASSIGN(merged.edges,
              lists.Finish(ids_, wants_properties_ ? Outlives::kPowerLoss : Outlives::kProcessEnd));
  return merged;
}

}  // namespace

Result<Merged> Merge(const DiskBase& base, const GraphShape& shape,
                     const std::vector<Batch>& batches, GraphTime at, const std::string& lists,
                     const std::string& properties) {
  Merger merger(base, shape);
  merger.Take(batches, at);
  return merger.Write(lists, properties);
}

}  // namespace slimgraph::txn
