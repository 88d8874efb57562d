#include "slimgraph/remote/list_reader.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "slimgraph/remote/naive_source.h"

namespace slimgraph {
namespace {

constexpr VertexId kGroup = CompactOffsets::kGroup;
using Form = EdgeCache::Form;

EdgeOffset ArcsOf(const CompactOffsets& index, VertexId group) {
  return index.group_begin(group + 1) - index.group_begin(group);
}

std::uint64_t CodedBytesOf(const CompactOffsets& index, VertexId group) {
  return index.group_first_byte(group + 1) - index.group_first_byte(group);
}

// What it costs to read the lists, which are in ascending order, in bytes. An operation costs as
// much as the widest gap that is read to save one.
std::uint64_t CostOf(const DelegatedLists::Part& part, std::span<const ListItem> lists) {
  constexpr std::uint64_t kOperation = OneSidedSource::kGapBytes;
  std::uint64_t cost = 0;
  std::uint64_t end = 0;
  for (const ListItem& list : lists) {
    if (list.length == 0) continue;
    const bool joins = end > 0 && list.first_byte <= end + OneSidedSource::kGapBytes;
    cost += joins ? list.first_byte - end : kOperation;
    end = list.first_byte + part.code.Bytes(list.length);
    cost += end - list.first_byte + list.length * part.weight_bytes;
  }
  return cost;
}

bool Admits(EdgeCache& cache, const DelegatedLists& lists, VertexId group,
            std::span<const ListItem> wanted) {
  EdgeOffset wanted_arcs = 0;
  for (const ListItem& list : wanted) wanted_arcs += list.length;
  if (wanted_arcs == 0 || cache.admission() == Admission::kNever) return false;
  const EdgeOffset arcs = ArcsOf(*lists.index(), group);
  if (cache.admission() == Admission::kAtOnce) return cache.whole() || wanted_arcs * 2 >= arcs;
  const std::uint64_t bytes =
      CodedBytesOf(*lists.index(), group) + arcs * lists.part().weight_bytes;
  if (cache.room() < bytes) return false;
  const std::uint64_t whole = OneSidedSource::kGapBytes + bytes;
  const std::uint64_t cost = CostOf(lists.part(), wanted);
  return 4 * cost >= 3 * whole || cache.Pay(group, cost) >= whole;
}

// While it exists, the traffic of a reader's endpoint is counted under the stage "lists".
class Counted {
 public:
  explicit Counted(Endpoint& endpoint) : endpoint_(endpoint), before_(endpoint.stage()) {
    static const StageId lists = StageNamed("lists");
    endpoint_.SetStage(lists);
  }
  ~Counted() { endpoint_.SetStage(before_); }

 private:
  Endpoint& endpoint_;
  StageId before_;
};

}  // namespace

ListReader::ListReader(Endpoint& endpoint, Fabric& fabric, ListAnswers* answers, bool naive)
    : endpoint_(endpoint), naive_(naive) {
  for (std::size_t i = 0; i < kBatches; ++i) batches_[i].number = i;
  if (answers != nullptr) {
    source_ = std::make_unique<ServedSource>(fabric, endpoint, *answers, batches_);
  } else if (naive) {
    source_ = std::make_unique<NaiveSource>(endpoint);
  } else {
    source_ = std::make_unique<OneSidedSource>(endpoint);
  }
}

// Completes the reads in flight, which would otherwise write into destroyed batches.
ListReader::~ListReader() {
  if (busy_ > 0) endpoint_.Flush();
}

void ListReader::StartFetch(DelegatedLists& lists, std::vector<VertexId>& vertices) {
  const auto batch = std::find_if(batches_.begin(), batches_.end(),
                                  [](const ListBatch& b) { return b.lists == nullptr; });
  SLIM_CHECK(batch != batches_.end());
  if (busy_++ == 0) under_way_since_ns_ = NowNs();
  if (!std::is_sorted(vertices.begin(), vertices.end())) {
    std::sort(vertices.begin(), vertices.end());
  }
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  batch->lists = &lists;
  batch->wanted.swap(vertices);
  vertices.clear();
  batch->planned = 0;
  const Counted counted(endpoint_);
  StartNextItems(*batch);
}

void ListReader::StartNextItems(ListBatch& batch) {
  batch.items.clear();
  batch.begin = 0;
  claimed_[batch.number].clear();
  if (batch.lists->index() != nullptr) {
    PlanWithIndex(batch);
  } else {
    for (const VertexId v : batch.wanted) {
      batch.items.push_back({.v = v, .visit = true, .fetch = batch.lists->MayHaveList(v)});
    }
    batch.planned = batch.wanted.size();
  }
  source_->StartFetch(batch);
}

void ListReader::PlanWithIndex(ListBatch& batch) {
  const CompactOffsets& index = *batch.lists->index();
  EdgeCache* const cache = batch.lists->cache();
  const std::span<const VertexId> wanted = batch.wanted;
  auto& items = batch.items;
  std::size_t i = batch.planned;
  const bool in_place = batch.lists->in_place();
  while (i < wanted.size() && items.size() + kGroup <= kMaxBatchItems) {
    const VertexId group = wanted[i] / kGroup;
    std::size_t end = i + 1;
    while (end < wanted.size() && wanted[end] / kGroup == group) ++end;
    Form form = cache == nullptr ? Form::kAbsent : cache->form(group);
    const bool here = form >= Form::kDecoded;
    bool fill = false;
    const auto add = [&](VertexId v, bool visit, const CompactOffsets::ListLocation& location) {
      std::byte* coded = nullptr;
      if (form == Form::kCoded) {
        coded = cache->CodedLists(group, ArcsOf(index, group)) +
                (location.first_byte - index.group_first_byte(group));
      }
      items.push_back({.v = v,
                       .visit = visit,
                       .fetch = !here && !in_place && location.length > 0,
                       .fill = fill && location.length > 0,
                       .cached_decoded = form == Form::kDecoded,
                       .cached_coded = coded,
                       .length = location.length,
                       .first_arc = location.begin,
                       .first_byte = location.first_byte});
    };
    const std::size_t first_item = items.size();
    index.VisitGroup(group, wanted[i], wanted[end - 1] + 1,
                     [&](VertexId v, const CompactOffsets::ListLocation& location) {
                       if (v != wanted[i]) return;
                       ++i;
                       add(v, /*visit=*/true, location);
                     });
    if (here || cache == nullptr) continue;
    form = ClaimGroup(batch, group, std::span(items).subspan(first_item));
    if (form < Form::kDecoded) continue;
    // The whole group goes into the cache.
    fill = true;
    const VertexId last = std::min((group + 1) * kGroup, index.count());
    auto one = wanted.begin() + static_cast<std::ptrdiff_t>(end - (items.size() - first_item));
    items.resize(first_item);
    index.VisitGroup(group, group * kGroup, last,
                     [&](VertexId v, const CompactOffsets::ListLocation& location) {
                       const bool visit = one != wanted.end() && *one == v;
                       if (visit) ++one;
                       add(v, visit, location);
                     });
  }
  batch.planned = i;
}

EdgeCache::Form ListReader::ClaimGroup(ListBatch& batch, VertexId group,
                                       std::span<const ListItem> wanted) {
  EdgeCache& cache = *batch.lists->cache();
  if (!Admits(cache, *batch.lists, group, wanted)) return Form::kAbsent;
  const CompactOffsets& index = *batch.lists->index();
  const Form form = cache.Claim(group, ArcsOf(index, group), CodedBytesOf(index, group));
  if (form >= Form::kDecoded) claimed_[batch.number].push_back({group, form});
  return form;
}

void ListReader::Decode(const ListBatch& batch, const ListItem& item, std::span<VertexId> into) {
  const DelegatedLists::Part& part = batch.lists->part();
  const std::byte* const coded = item.fetch ? batch.bytes.data() + item.coded_at
                                 : batch.lists->in_place()
                                     ? part.in_place.lists.data() + item.first_byte
                                     : item.cached_coded;
  SLIM_CHECK(part.code.Decode(coded, into), "node {} keeps a list that cannot be decoded",
             part.node);
}

void ListReader::FillCache(ListBatch& batch) {
  if (claimed_[batch.number].empty()) return;
  const DelegatedLists::Part& part = batch.lists->part();
  EdgeCache& cache = *batch.lists->cache();
  const std::byte* const bytes = batch.bytes.data();
  for (const ListItem& item : batch.travelling()) {
    if (!item.fill) continue;
    std::byte* weights = nullptr;
    if (item.cached_coded != nullptr) {
      std::copy_n(bytes + item.coded_at, part.code.Bytes(item.length), item.cached_coded);
      weights = CachedWeights(batch, item);
    } else if (item.cached_decoded) {
      Decode(batch, item, std::span(cache.ids() + item.first_arc, item.length));
      weights = cache.weights() + item.first_arc * part.weight_bytes;
    }
    if (part.weight_bytes > 0) {
      std::copy_n(Weights(batch, item), item.length * part.weight_bytes, weights);
    }
  }
}

const std::byte* ListReader::Weights(const ListBatch& batch, const ListItem& item) {
  const DelegatedLists::Part& part = batch.lists->part();
  if (item.fetch) return batch.bytes.data() + item.weights_at;
  if (batch.lists->in_place()) {
    return part.in_place.weights.data() + item.first_arc * part.weight_bytes;
  }
  return CachedWeights(batch, item);
}

std::byte* ListReader::CachedWeights(const ListBatch& batch, const ListItem& item) {
  const VertexId group = item.v / kGroup;
  const EdgeOffset before = item.first_arc - batch.lists->index()->group_begin(group);
  return batch.lists->cache()->CodedWeights(group) + before * batch.lists->part().weight_bytes;
}

void ListReader::StartNextRound(ListBatch& batch) {
  batch.arrived = false;
  batch.begin = batch.end;
  if (batch.begin < batch.items.size()) {
    const Counted counted(endpoint_);
    return source_->StartFetch(batch);
  }
  for (const Claimed& one : claimed_[batch.number]) {
    batch.lists->cache()->Publish(one.group, one.form);
  }
  if (batch.planned < batch.wanted.size()) {
    const Counted counted(endpoint_);
    return StartNextItems(batch);
  }
  batch.lists = nullptr;
  if (--busy_ == 0) times_.under_way_ns += NowNs() - under_way_since_ns_;
}

std::size_t ListReader::DecodeFrom(ListBatch& batch, std::size_t i) {
  constexpr std::size_t kNearArcs = 4096;
  const bool in_place = batch.lists->in_place();
  decoded_count_ = 0;
  for (; i < batch.end; ++i) {
    ListItem& item = batch.items[i];
    const bool is_coded = item.fetch || item.cached_coded != nullptr || in_place;
    if (!item.visit || item.cached_decoded || !is_coded) continue;
    if (decoded_count_ > 0 && decoded_count_ + item.length > kNearArcs) break;
    if (decoded_.size() < item.length) decoded_.resize(std::max(item.length, kNearArcs));
    item.decoded_at = decoded_count_;
    Decode(batch, item, std::span(decoded_).subspan(decoded_count_, item.length));
    decoded_count_ += item.length;
  }
  return i;
}

Neighbours ListReader::Find(const ListBatch& batch, const ListItem& item) const {
  if (item.length == 0) return {};
  if (item.cached_decoded) return batch.lists->cache()->List(item.first_arc, item.length);
  const bool weighted = batch.lists->part().weight_bytes > 0;
  const std::byte* const weights = weighted ? Weights(batch, item) : nullptr;
  return {std::span(decoded_).subspan(item.decoded_at, item.length), weights,
          decoded_count_ - item.decoded_at - item.length};
}

const ListBatch* ListReader::ArrivedBatch() const {
  const auto batch =
      std::find_if(batches_.begin(), batches_.end(), [](const ListBatch& b) { return b.arrived; });
  return batch == batches_.end() ? nullptr : &*batch;
}

Status ListReader::Progress(bool wait) {
  // The stage covers the whole function: handling a completion may start further reads.
  const Counted counted(endpoint_);
  bool waited = false;
  Waiting waiting;
  while (true) {
    ended_.clear();
    endpoint_.Poll(ended_);
    for (const Completion& one : ended_) {
      SLIM_TRY(source_->HandleCompletion(batches_[one.tag], one.outcome));
    }
    if (ArrivedBatch() != nullptr) break;
    if (!wait) return {};
    waited = true;
    SLIM_TRY(WaitForArrival(waiting));
  }
  if (waited) {
    batch_arcs_ = std::min(batch_arcs_ * 2, kMaxBatchArcs);
  } else {
    batch_arcs_ = std::max(batch_arcs_ - batch_arcs_ / 64, kMinBatchArcs);
  }
  return {};
}

Status ListReader::WaitForArrival(Waiting& waiting) {
  for (const ListBatch& batch : batches_) {
    if (batch.lists != nullptr) SLIM_TRY(source_->CheckAlive(batch.lists->part().node));
  }
  const std::uint64_t start_ns = NowNs();
  const bool news = endpoint_.Wait(std::chrono::seconds(1));
  times_.waited_ns += NowNs() - start_ns;
  if (news) return {};
  waiting.For(
      endpoint_.address().node, [this] { return DescribeWait(); }, start_ns);
  return {};
}

std::string ListReader::DescribeWait() const {
  std::vector<NodeId> nodes;
  for (const ListBatch& batch : batches_) {
    if (batch.lists != nullptr) nodes.push_back(batch.lists->part().node);
  }
  return "lists of " + NodesInWords(nodes);
}

}  // namespace slimgraph
