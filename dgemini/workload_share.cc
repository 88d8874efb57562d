// What a compute node makes of its share of the graph: its slots, its lists, and blocks of them.
#include <algorithm>

#include "dgemini/workload.h"

namespace slimgraph::dgemini {
namespace {

constexpr VertexId kBlockVertices = 1024;

}  // namespace

void Workload::FindSlots() {
  bool whole_words = true;
  for (const WorkSlot& slot : division_.slots()) {
    whole_words = whole_words && (slot.part.first % 64 == 0 || slot.part.first == vertices_);
    slots_.push_back({slot.worker, slot.home, 0});
  }
  shift_ = whole_words ? 6 : 0;
  slot_of_.resize((std::size_t{vertices_} >> shift_) + 1);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    const VertexPart& part = division_.slots()[slot].part;
    if (part.count == 0) continue;
    std::fill(slot_of_.begin() + (part.first >> shift_),
              slot_of_.begin() + ((part.first + part.count - 1) >> shift_) + 1,
              static_cast<std::uint16_t>(slot));
  }
}

ListsInPlace Workload::InPlace(const Fabric& fabric, NodeId home, Direction direction,
                               const PartBegin& begin) const {
  if (!stands_ || cache_.side == MemorySide::kServe) return {};
  const ServedRegions& regions = stored_[static_cast<int>(direction)].served.front().regions;
  const Bytes lists = fabric.InPlace(home, regions.lists);
  if (lists.empty()) return {};
  ListsInPlace in_place{.lists = lists.subspan(begin.byte), .weights = {}};
  if (weight_bytes_ > 0) {
    in_place.weights = fabric.InPlace(home, regions.weights).subspan(begin.arc * weight_bytes_);
  }
  return in_place;
}

Status Workload::Delegate(Cluster& cluster, const WorkloadNeeds& needs,
                          const WorkloadSizes& sizes) {
  const std::vector<Direction> directions = LoadedDirections(needs);
  std::vector<std::size_t> mine;  // the numbers of slots, those of this node first
  std::uint64_t remote_bytes = 0;
  std::uint64_t coded_bytes = 0;
  for (std::size_t number = 0; number < division_.slots().size(); ++number) {
    const WorkSlot& slot = division_.slots()[number];
    if (slot.worker != self_) continue;
    mine.push_back(number);
    for (const Direction direction : directions) {
      if (slot.home == self_) continue;
      const SlotSize& size = sizes.of(direction, number);
      remote_bytes += size.arcs * (sizeof(VertexId) + weight_bytes_);
      if (!InPlace(cluster.fabric(), slot.home, direction, size.begin).lists.empty()) continue;
      coded_bytes += EdgeCache::CodedBytes(CompactOffsets::Groups(slot.part.count), size.arcs,
                                           weight_bytes_, size.coded_bytes);
    }
  }
  const std::uint64_t budget =
      needs.cache.level == CacheLevel::kEdge ? needs.cache.edges.Of(remote_bytes) : 0;
  const bool all_decoded = budget >= remote_bytes;
  SLIM_ASSIGN(cache_budget_, CacheBudget::Make(budget, all_decoded ? 0 : coded_bytes));
  for (const std::size_t number : mine) {
    const auto& [home, socket, worker, part] = division_.slots()[number];
    // The slots of a home share its regions if the graph stands in a pool.
    const std::size_t at_home = sizes.standing ? 0 : number - division_.begin_of(home);
    const VertexId region_lists = sizes.standing ? partition_->part(home).count : part.count;
    slots_[number].segment = static_cast<std::uint32_t>(segments_.size());
    Segment segment{
        .first = part.first, .count = part.count, .home = home, .needs_at = needs_words_};
    needs_words_ += segment.words_end() - segment.first_word();
    longest_ = std::max(longest_, sizes.of(Direction::kOut, number).longest);
    for (const Direction direction : directions) {
      const int d = static_cast<int>(direction);
      if (home == self_) {
        segment.own[d] = &stored_[d].own[at_home].spans();
        continue;
      }
      const SlotSize& size = sizes.of(direction, number);
      const DelegatedLists::Part delegated{
          .node = home,
          .first = part.first,
          .count = part.count,
          .arcs = size.arcs,
          .regions = stored_[d].served[at_home].regions,
          .weight_bytes = weight_bytes_,
          .code = ListCode(vertices_),
          .begin = size.begin,
          .region_lists = region_lists,
          .in_place = InPlace(cluster.fabric(), home, direction, size.begin)};
      SLIM_ASSIGN(auto lists, DelegatedLists::Make(cluster.fabric().endpoint(0), delegated,
                                                   needs.cache.level, *cache_budget_, all_decoded));
      segment.remote[d] = lists.get();
      delegated_.push_back(std::move(lists));
    }
    segments_.push_back(segment);
  }
  return {};
}

void Workload::CutBlocks() {
  for (std::uint32_t s = 0; s < segments_.size(); ++s) {
    const Segment& segment = segments_[s];
    for (VertexId first = segment.first; first < segment.end();) {
      const std::uint64_t next = (std::uint64_t{first} / kBlockVertices + 1) * kBlockVertices;
      const auto end = static_cast<VertexId>(std::min<std::uint64_t>(next, segment.end()));
      (segment.is_own() ? own_blocks_ : remote_blocks_).push_back({s, first, end});
      first = end;
    }
  }
}

}  // namespace slimgraph::dgemini
