#include "slimgraph/remote/one_sided_source.h"

#include <algorithm>

namespace slimgraph {
namespace {

constexpr std::uint64_t kGapGroups = 1;  // as kGapBytes

using Range = ListBatch::Range;

// Adds a range, and merges it with the last one if the gap is small. Callers add ranges in
// ascending order.
void Add(std::vector<Range>& ranges, std::uint64_t begin, std::uint64_t end, std::uint64_t gap) {
  if (!ranges.empty() && begin <= ranges.back().end + gap) {
    ranges.back().end = std::max(ranges.back().end, end);
  } else {
    ranges.push_back({begin, end, 0});
  }
}

// Assigns each range its position in the buffer, one after the other from `at` on. Returns the end
// of the last one.
std::size_t LayOut(std::vector<Range>& ranges, std::size_t at) {
  for (Range& range : ranges) {
    range.into = at;
    at += range.end - range.begin;
  }
  return at;
}

// Maps the remote position `begin` to its position in the buffer. `at` is the index of the current
// range, and only advances.
std::size_t Find(const std::vector<Range>& ranges, std::size_t& at, std::uint64_t begin) {
  while (ranges[at].end <= begin) ++at;
  return ranges[at].into + (begin - ranges[at].begin);
}

}  // namespace

void OneSidedSource::StartFetch(ListBatch& batch) {
  const bool placed = batch.lists->index() != nullptr || batch.begin > 0;
  placed ? ReadLists(batch) : ReadOffsets(batch);
}

Status OneSidedSource::HandleCompletion(ListBatch& batch, Outcome outcome) {
  if (outcome != Outcome::kOk) {
    return EnvironmentError("cannot read lists of node {}: {}", batch.lists->part().node,
                            OutcomeName(outcome));
  }
  if (batch.reading_offsets) {
    TakeOffsets(batch);
  } else {
    batch.arrived = true;
  }
  return {};
}

void OneSidedSource::ReadOffsets(ListBatch& batch) {
  batch.ranges.clear();
  for (const ListItem& item : batch.items) {
    if (!item.fetch) continue;
    const std::uint64_t group = item.v / OffsetGroup::kLists;
    Add(batch.ranges, group, group + 1, kGapGroups);
  }
  const std::size_t groups = LayOut(batch.ranges, 0);
  if (groups == 0) return ReadLists(batch);
  batch.offset_groups.resize(groups);
  batch.reading_offsets = true;
  const DelegatedLists::Part& part = batch.lists->part();
  for (const Range& range : batch.ranges) {
    const auto into = std::span(batch.offset_groups).subspan(range.into, range.end - range.begin);
    const std::uint64_t at = part.begin.list / OffsetGroup::kLists + range.begin;
    endpoint_.Read(part.node, part.regions.offsets, at * sizeof(OffsetGroup),
                   std::as_writable_bytes(into), batch.number,
                   &range == &batch.ranges.back() ? Signal::kYes : Signal::kNo);
  }
  endpoint_.Ring();
}

void OneSidedSource::TakeOffsets(ListBatch& batch) {
  batch.reading_offsets = false;
  const DelegatedLists::Part& part = batch.lists->part();
  const ListCode& code = part.code;
  std::size_t at = 0;
  for (ListItem& item : batch.items) {
    if (!item.fetch) continue;
    const OffsetGroup& group =
        batch.offset_groups[Find(batch.ranges, at, item.v / OffsetGroup::kLists)];
    item.first_byte = group.first_byte - part.begin.byte;
    item.first_arc = group.first_arc - part.begin.arc;
    for (VertexId i = 0; i < item.v % OffsetGroup::kLists; ++i) {
      item.first_byte += code.Bytes(group.lengths[i]);
      item.first_arc += group.lengths[i];
    }
    item.length = group.lengths[item.v % OffsetGroup::kLists];
    item.fetch = item.length > 0;
  }
  ReadLists(batch);
}

void OneSidedSource::ReadLists(ListBatch& batch) {
  const DelegatedLists::Part& part = batch.lists->part();
  batch.ranges.clear();
  std::vector<Range> weights;
  EdgeOffset arcs = 0;
  for (batch.end = batch.begin; batch.end < batch.items.size(); ++batch.end) {
    const ListItem& item = batch.items[batch.end];
    if (!item.fetch) continue;
    if (arcs > 0 && arcs + item.length > kMaxBatchArcs) break;
    arcs += item.length;
    Add(batch.ranges, item.first_byte, item.first_byte + part.code.Bytes(item.length), kGapBytes);
    if (part.weight_bytes == 0) continue;
    Add(weights, item.first_arc * part.weight_bytes,
        (item.first_arc + item.length) * part.weight_bytes, kGapBytes);
  }
  if (batch.ranges.empty()) {
    batch.arrived = true;
    return;
  }
  const std::size_t coded = LayOut(batch.ranges, 0) + ListCode::kSlackBytes;
  batch.bytes.resize(std::max(batch.bytes.size(), LayOut(weights, coded)));
  std::size_t at = 0;
  std::size_t weights_at = 0;
  for (ListItem& item : batch.travelling()) {
    if (!item.fetch) continue;
    item.coded_at = Find(batch.ranges, at, item.first_byte);
    if (part.weight_bytes == 0) continue;
    item.weights_at = Find(weights, weights_at, item.first_arc * part.weight_bytes);
  }
  ReadRanges(batch, batch.ranges, part.regions.lists, part.begin.byte, weights.empty());
  ReadRanges(batch, weights, part.regions.weights, part.begin.arc * part.weight_bytes, true);
  endpoint_.Ring();
}

void OneSidedSource::ReadRanges(ListBatch& batch, const std::vector<Range>& ranges, RegionId region,
                                std::uint64_t begin, bool last) {
  for (const Range& range : ranges) {
    endpoint_.Read(batch.lists->part().node, region, begin + range.begin,
                   MutableBytes(batch.bytes).subspan(range.into, range.end - range.begin),
                   batch.number, last && &range == &ranges.back() ? Signal::kYes : Signal::kNo);
  }
}

}  // namespace slimgraph
