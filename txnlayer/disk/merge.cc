#include "txnlayer/disk/merge.h"

#include <algorithm>
#include <numeric>

#include "slimgraph/base/parallel.h"
#include "slimgraph/graph/list_writer.h"

namespace slimgraph::txn {
namespace {

constexpr VertexId kGone = ~VertexId{0};
constexpr EdgeOffset kArcsAtATime = 1 << 20;
constexpr std::size_t kArcsOfARange = 1 << 12;

// An update of an edge, seen from one of its ends. `order` is its number among all updates, from 1.
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

// What happened to an edge last, by order.
struct EdgeUpdate {
  bool alive = false;
  GraphTime time = 0;
  Bytes properties;
};

bool ComesBefore(const ArcChange& a, const ArcChange& b) {
  if (a.from != b.from) return a.from < b.from;
  return a.to != b.to ? a.to < b.to : a.order < b.order;
}

// Dealt into ranges of names that fit into a cache, which threads then sort.
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
  // Where a range began is now where it ends.
  static_cast<void>(ParallelFor(ranges, 0, [&](std::size_t range) {
    const auto at = [&](std::size_t place) {
      return dealt.begin() + static_cast<std::ptrdiff_t>(place);
    };
    std::sort(at(range == 0 ? 0 : ends[range - 1]), at(ends[range]), ComesBefore);
    return Status();
  }));
  arcs.swap(dealt);
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
  // `extra`: what it carries beside its weight.
  void AddArc(VertexId to, Bytes weight, Bytes extra, GraphTime time);

  const DiskBase& base_;
  const GraphShape shape_;
  std::unordered_map<VertexName, VertexChange> vertices_;
  std::vector<ArcChange> arcs_[2];   // by direction; of undirected graphs all are the first
  std::vector<EdgeUpdate> updates_;  // by order
  bool keeps_edge_properties_ = false;
  bool keeps_vertex_properties_ = false;
  bool keeps_times_ = false;
  bool wants_properties_ = false;

  OriginalIds old_ids_;
  std::vector<VertexId> renumbered_;  // old dense ids: the new ones
  OriginalIds ids_;
  std::vector<VertexId> from_;  // new dense ids: the old ones, or kGone

  // Of the direction whose lists are being written.
  std::vector<EdgeOffset> offsets_;
  std::vector<VertexId> window_;  // of the base's lists
  std::vector<std::byte> weight_window_;
  EdgeOffset window_at_ = 0;

  std::vector<ArcChange>::const_iterator next_change_;  // lists are written in order of names
  std::vector<VertexId> list_;
  std::vector<std::byte> list_weights_;
  std::vector<std::byte> vertex_column_;
  std::vector<std::byte> edge_column_;
  std::vector<GraphTime> time_column_;
};

void Merger::Take(const std::vector<Batch>& batches, GraphTime at) {
  std::size_t words = 0;
  for (const Batch& batch : batches) words += batch.words.size();
  updates_.reserve(words / 2 + 1);  // that of an edge without properties is two words
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
    if (old != kGone) renumbered_[old] = static_cast<VertexId>(names.size());
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
  SLIM_ASSIGN(old_ids_, file.ReadOriginalIds());
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

// What the base lists and nothing has been said of since, and what has been said of others last.
Status Merger::WriteList(VertexId v, Direction direction, ListWriter& lists) {
  const std::vector<ArcChange>& arcs = arcs_[static_cast<std::size_t>(direction)];
  list_.clear();
  list_weights_.clear();
  const VertexName name = ids_[v];
  const std::size_t weight_bytes = shape_.weight_bytes();
  const VertexId old = from_[v];
  const std::uint64_t deleted = LastDeleted(name);
  std::span<const VertexId> base;
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
  }
  const PropertyColumns columns = base_.columns();
  // Those before are of vertices that are gone.
  auto& change = next_change_;
  while (change != arcs.end() && change->from < name) ++change;
  for (std::size_t i = 0;;) {
    const bool has_change = change != arcs.end() && change->from == name;
    if (i == base.size() && !has_change) break;
    const VertexName to = i < base.size() ? old_ids_[base[i]] : 0;
    const bool from_base = i < base.size() && (!has_change || to < change->to);
    if (from_base) {
      const VertexId dense = renumbered_[base[i]];
      const EdgeOffset at = first + i - window_at_;
      const EdgeOffset arc = first + i++ + (direction == Direction::kIn ? base_.file()->arcs() : 0);
      if (dense == kGone || LastDeleted(to) > 0) continue;
      const Bytes weight = Bytes(weight_window_).subspan(at * weight_bytes, weight_bytes);
      const std::size_t extra_bytes = shape_.extra_bytes();
      const Bytes extra =
          columns.edges.empty() ? Bytes() : columns.edges.subspan(arc * extra_bytes, extra_bytes);
      AddArc(dense, weight, extra, columns.times.empty() ? 0 : columns.times[arc]);
      continue;
    }
    while (change + 1 != arcs.end() && change[1].from == name && change[1].to == change->to) {
      ++change;
    }
    if (i < base.size() && to == change->to) ++i;
    const EdgeUpdate& update = updates_[change->order];
    const auto dense = ids_.Find(change->to);
    const std::uint64_t cut = std::max(deleted, LastDeleted(change->to));
    if (update.alive && dense && change->order > cut) {
      const std::size_t weight = std::min(weight_bytes, update.properties.size());
      AddArc(*dense, update.properties.first(weight), update.properties.subspan(weight),
             update.time);
    }
    ++change;
  }
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
  SLIM_ASSIGN(merged.edges, lists.Finish(ids_));
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
