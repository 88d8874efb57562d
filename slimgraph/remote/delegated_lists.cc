#include "slimgraph/remote/delegated_lists.h"

namespace slimgraph {

Result<std::unique_ptr<DelegatedLists>> DelegatedLists::Make(Endpoint& endpoint, const Part& part,
                                                             CacheLevel level, CacheBudget& budget,
                                                             bool whole) {
  std::unique_ptr<DelegatedLists> lists(new DelegatedLists(part));
  if (level <= CacheLevel::kNone) return lists;
  std::vector<std::uint64_t> nonempty((std::size_t{part.count} + 63) / 64);
  CompactOffsets index(part.code);
  const bool indexed = level >= CacheLevel::kIndex;
  if (indexed) index.Reserve(part.count);
  SLIM_TRY(lists->VisitLengths(endpoint, [&](VertexId v, EdgeOffset length) {
    if (length > 0) nonempty[v / 64] |= std::uint64_t{1} << (v % 64);
    if (indexed) index.Append(length);
  }));
  if (!indexed) {
    lists->nonempty_ = std::move(nonempty);
    return lists;
  }
  index.Finish();
  lists->index_ = std::move(index);
  if (level == CacheLevel::kEdge) {
    SLIM_ASSIGN(auto cache, EdgeCache::Make(lists->index_->groups(), part.arcs, part.weight_bytes,
                                            budget, whole, /*may_code=*/!lists->in_place()));
    lists->cache_.emplace(std::move(cache));
  }
  return lists;
}

Status DelegatedLists::ReadOffsetGroups(Endpoint& endpoint, std::uint64_t group,
                                        std::span<OffsetGroup> offset_groups) const {
  const std::uint64_t at = part_.begin.list / OffsetGroup::kLists + group;
  endpoint.Read(part_.node, part_.regions.offsets, at * sizeof(OffsetGroup),
                std::as_writable_bytes(offset_groups));
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot read the offsets of the lists of node {}: {}", part_.node,
                          OutcomeName(outcome));
}

}  // namespace slimgraph
