#include "slimgraph/remote/delegated_lists.h"

namespace slimgraph {

Result<std::unique_ptr<DelegatedLists>> DelegatedLists::Make(Endpoint& endpoint, const Place& place,
                                                             CacheLevel level, CacheRoom& room,
                                                             bool whole) {
  std::unique_ptr<DelegatedLists> lists(new DelegatedLists(place));
  if (level == CacheLevel::kNone) return lists;
  std::vector<std::uint64_t> filled((std::size_t{place.count} + 63) / 64);
  CompactOffsets index(place.code);
  const bool indexed = level >= CacheLevel::kIndex;
  if (indexed) index.Reserve(place.count);
  SLIM_TRY(lists->VisitLengths(endpoint, [&](VertexId v, EdgeOffset length) {
    if (length > 0) filled[v / 64] |= std::uint64_t{1} << (v % 64);
    if (indexed) index.Append(length);
  }));
  if (!indexed) {
    lists->filled_ = std::move(filled);
    return lists;
  }
  index.Finish();
  lists->index_ = std::move(index);
  if (level == CacheLevel::kEdge) {
    SLIM_ASSIGN(auto cache, EdgeCache::Make(lists->index_->groups(), place.arcs, place.weight_bytes,
                                            room, whole));
    lists->cache_.emplace(std::move(cache));
  }
  return lists;
}

Status DelegatedLists::ReadPlaces(Endpoint& endpoint, std::uint64_t group,
                                  std::span<PlaceGroup> places) const {
  endpoint.Read(place_.node, place_.regions.places, group * sizeof(PlaceGroup),
                std::as_writable_bytes(places));
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot read where the lists of node {} lie: {}", place_.node,
                          OutcomeName(outcome));
}

}  // namespace slimgraph
