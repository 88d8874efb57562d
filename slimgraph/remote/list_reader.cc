#include "slimgraph/remote/list_reader.h"

#include <algorithm>

#include "slimgraph/base/check.h"

namespace slimgraph {
namespace {

// Gaps that cost less than a further operation.
constexpr EdgeOffset kGapArcs = 32;
constexpr VertexId kGapOffsets = 4;

}  // namespace

void ListReader::Start(DelegatedLists& lists, std::vector<VertexId>& vertices) {
  const auto batch = std::find_if(batches_.begin(), batches_.end(),
                                  [](const Batch& b) { return b.stage == Stage::kFree; });
  SLIM_CHECK(batch != batches_.end());
  ++busy_;
  batch->lists = &lists;
  batch->vertices.swap(vertices);
  vertices.clear();
  if (!std::is_sorted(batch->vertices.begin(), batch->vertices.end())) {
    std::sort(batch->vertices.begin(), batch->vertices.end());
  }
  batch->items.resize(batch->vertices.size());
  batch->ranges.clear();
  batch->claimed.clear();
  if (lists.index() != nullptr) {
    FindInIndex(*batch);
    AskForLists(*batch);
  } else {
    AskForOffsets(*batch);
  }
}

void ListReader::FindInIndex(Batch& batch) {
  const CompactOffsets& index = *batch.lists->index();
  const auto& vertices = batch.vertices;
  for (std::size_t i = 0; i < vertices.size();) {
    const VertexId group = vertices[i] / CompactOffsets::kGroup;
    std::size_t end = i + 1;
    while (end < vertices.size() && vertices[end] / CompactOffsets::kGroup == group) ++end;
    index.VisitGroup(group, vertices[i], vertices[end - 1] + 1,
                     [&](VertexId v, CompactOffsets::Place place) {
                       if (v != vertices[i]) return;
                       batch.items[i++] = {v, place.begin, place.length, nullptr, nullptr};
                     });
  }
}

// Two offsets for each vertex whose list may be there; those of neighbours overlap.
void ListReader::AskForOffsets(Batch& batch) {
  batch.stage = Stage::kOffsets;
  EdgeOffset total = 0;
  for (const VertexId v : batch.vertices) {
    if (!batch.lists->MayHaveList(v)) continue;
    if (!batch.ranges.empty() && v <= batch.ranges.back().end + kGapOffsets) {
      batch.ranges.back().end = std::max(batch.ranges.back().end, EdgeOffset{v} + 2);
    } else {
      batch.ranges.push_back({v, EdgeOffset{v} + 2, 0, false});
    }
  }
  for (Range& range : batch.ranges) {
    range.buffer = total;
    total += range.end - range.begin;
  }
  if (total == 0) return TakeOffsets(batch);
  batch.offsets.resize(total);
  const DelegatedLists::Place& place = batch.lists->place();
  for (const Range& range : batch.ranges) {
    const auto into = std::span(batch.offsets).subspan(range.buffer, range.end - range.begin);
    endpoint_.Read(place.node, place.regions.offsets, range.begin * sizeof(EdgeOffset),
                   std::as_writable_bytes(into), TagOf(batch),
                   &range == &batch.ranges.back() ? Signal::kYes : Signal::kNo);
  }
  endpoint_.Ring();
}

void ListReader::TakeOffsets(Batch& batch) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < batch.vertices.size(); ++i) {
    const VertexId v = batch.vertices[i];
    batch.items[i] = {v, 0, 0, nullptr, nullptr};
    if (!batch.lists->MayHaveList(v)) continue;
    while (batch.ranges[at].end < EdgeOffset{v} + 2) ++at;
    const EdgeOffset* const offset = &batch.offsets[batch.ranges[at].buffer + v -
                                                    batch.ranges[at].begin];
    batch.items[i].begin = offset[0];
    batch.items[i].length = offset[1] - offset[0];
  }
  batch.ranges.clear();
  AskForLists(batch);
}

void ListReader::AddRange(Batch& batch, EdgeOffset begin, EdgeOffset end, bool cached) {
  if (!batch.ranges.empty()) {
    Range& last = batch.ranges.back();
    const EdgeOffset gap = cached ? 0 : kGapArcs;
    if (last.cached == cached && begin >= last.begin && begin <= last.end + gap) {
      last.end = std::max(last.end, end);
      return;
    }
  }
  batch.ranges.push_back({begin, end, 0, cached});
}

bool ListReader::GroupInCache(Batch& batch, VertexId group, std::size_t first, std::size_t end) {
  EdgeCache* const cache = batch.lists->cache();
  if (cache == nullptr) return false;
  if (cache->Has(group)) return true;
  const CompactOffsets& index = *batch.lists->index();
  const EdgeOffset begin = index.group_begin(group);
  const EdgeOffset arcs = index.group_begin(group + 1) - begin;
  EdgeOffset wanted = 0;
  for (std::size_t i = first; i < end; ++i) wanted += batch.items[i].length;
  if (wanted == 0 || (!cache->whole() && wanted * 2 < arcs)) return false;
  if (!cache->Claim(group, arcs)) return false;
  batch.claimed.push_back(group);
  AddRange(batch, begin, begin + arcs, true);
  return true;
}

void ListReader::PlanRanges(Batch& batch) {
  auto& items = batch.items;
  for (std::size_t i = 0; i < items.size();) {
    const VertexId group = items[i].v / CompactOffsets::kGroup;
    std::size_t end = i + 1;
    while (end < items.size() && items[end].v / CompactOffsets::kGroup == group) ++end;
    if (GroupInCache(batch, group, i, end)) {
      const EdgeCache& cache = *batch.lists->cache();
      for (; i < end; ++i) {
        const Neighbours list = cache.List(items[i].begin, items[i].length);
        items[i].ids = list.ids.data();
        items[i].weights = list.weights;
      }
      continue;
    }
    for (; i < end; ++i) {
      if (items[i].length > 0) {
        AddRange(batch, items[i].begin, items[i].begin + items[i].length, false);
      }
    }
  }
}

void ListReader::AskForLists(Batch& batch) {
  PlanRanges(batch);
  EdgeOffset total = 0;
  for (Range& range : batch.ranges) {
    if (range.cached) continue;
    range.buffer = total;
    total += range.end - range.begin;
  }
  const DelegatedLists::Place& place = batch.lists->place();
  const std::size_t weight_bytes = place.weight_bytes;
  batch.ids.resize(total);
  batch.weights.resize(total * weight_bytes);
  PlaceItems(batch);
  if (batch.ranges.empty()) {
    batch.stage = Stage::kReady;
    return;
  }
  batch.stage = Stage::kLists;
  for (const Range& range : batch.ranges) {
    const EdgeOffset arcs = range.end - range.begin;
    const bool last = &range == &batch.ranges.back();
    EdgeCache* const cache = batch.lists->cache();
    VertexId* const ids = range.cached ? cache->ids() + range.begin
                                       : batch.ids.data() + range.buffer;
    endpoint_.Read(place.node, place.regions.neighbours, range.begin * sizeof(VertexId),
                   std::as_writable_bytes(std::span(ids, arcs)), TagOf(batch),
                   last && weight_bytes == 0 ? Signal::kYes : Signal::kNo);
    if (weight_bytes == 0) continue;
    std::byte* const weights = range.cached ? cache->weights() + range.begin * weight_bytes
                                            : batch.weights.data() + range.buffer * weight_bytes;
    endpoint_.Read(place.node, place.regions.weights, range.begin * weight_bytes,
                   {weights, arcs * weight_bytes}, TagOf(batch),
                   last ? Signal::kYes : Signal::kNo);
  }
  endpoint_.Ring();
}

// Items and ranges ascend alike, so one walk finds each item's range.
void ListReader::PlaceItems(Batch& batch) {
  const std::size_t weight_bytes = batch.lists->place().weight_bytes;
  std::size_t at = 0;
  for (Item& item : batch.items) {
    if (item.length == 0 || item.ids != nullptr) continue;
    while (batch.ranges[at].cached || batch.ranges[at].end < item.begin + item.length) ++at;
    const EdgeOffset position = batch.ranges[at].buffer + item.begin - batch.ranges[at].begin;
    item.ids = batch.ids.data() + position;
    item.weights = batch.weights.data() + position * weight_bytes;
  }
}

void ListReader::Settle(Batch& batch) {
  for (const VertexId group : batch.claimed) batch.lists->cache()->Settle(group);
  batch.stage = Stage::kReady;
}

Status ListReader::Progress(bool wait) {
  const auto any_ready = [&] {
    return std::any_of(batches_.begin(), batches_.end(),
                       [](const Batch& b) { return b.stage == Stage::kReady; });
  };
  do {
    ended_.clear();
    endpoint_.Poll(ended_);
    for (const Completion& one : ended_) {
      Batch& batch = batches_[one.tag];
      if (one.outcome != Outcome::kOk) {
        return EnvironmentError("cannot read lists of node {}: {}", batch.lists->place().node,
                                OutcomeName(one.outcome));
      }
      batch.stage == Stage::kOffsets ? TakeOffsets(batch) : Settle(batch);
    }
    if (!wait || any_ready() || busy_ == 0) return {};
    const std::uint64_t start_ns = NowNs();
    endpoint_.Wait(std::chrono::seconds(1));
    waited_ns_ += NowNs() - start_ns;
  } while (true);
}

}  // namespace slimgraph
