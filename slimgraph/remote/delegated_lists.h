// The lists of one part on a memory node, as its delegate sees them: where to read them, and what
// of them is at hand. Vertices are numbered from 0 within the part.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/fabric/fabric.h"
#include "slimgraph/remote/cache_options.h"
#include "slimgraph/remote/compact_offsets.h"
#include "slimgraph/remote/edge_cache.h"
#include "slimgraph/remote/served_lists.h"

namespace slimgraph {

class DelegatedLists {
 public:
  struct Place {
    NodeId node = 0;
    VertexId first = 0;  // vertex; the others follow it
    VertexId count = 0;
    EdgeOffset arcs = 0;
    ServedRegions regions;
    std::size_t weight_bytes = 0;  // 0: weights are not wanted
    ListCode code;
  };
  // Fills the caches but that of the lists, with reads of `endpoint`. `whole`: `room` holds all
  // lists of all parts.
  static Result<std::unique_ptr<DelegatedLists>> Make(Endpoint& endpoint, const Place& place,
                                                      CacheLevel level, CacheRoom& room,
                                                      bool whole);

  const Place& place() const { return place_; }
  const CompactOffsets* index() const { return index_ ? &*index_ : nullptr; }
  EdgeCache* cache() { return cache_ ? &*cache_ : nullptr; }

  // False only where the list is known to be empty.
  bool MayHaveList(VertexId v) const {
    if (index_) return index_->length(v) > 0;
    return filled_.empty() || (filled_[v / 64] >> (v % 64) & 1) != 0;
  }
  // The length of a list, or what lists have on average where it is not known.
  EdgeOffset ExpectedLength(VertexId v) const {
    return index_ ? index_->length(v) : place_.arcs / place_.count + 1;
  }

  // The list, if it lies in the edge cache.
  std::optional<Neighbours> Cached(VertexId v) const {
    if (!cache_ || !cache_->Has(v / CompactOffsets::kGroup)) return std::nullopt;
    const CompactOffsets::Arcs arcs = index_->FindArcs(v);
    return cache_->List(arcs.begin, arcs.length);
  }
  // It will soon be looked for.
  void AskForPlace(VertexId v) const {
    if (index_) index_->Ask(v);
  }

  // visit(v, length) for all lists in order, from the index or from afar.
  template <typename Visit>
  Status VisitLengths(Endpoint& endpoint, Visit visit) const;

  std::uint64_t bytes_at_hand() const {
    return filled_.size() * sizeof(filled_[0]) + (index_ ? index_->bytes() : 0);
  }

 private:
  explicit DelegatedLists(const Place& place) : place_(place) {}
  // `places` become those from `group` on.
  Status ReadPlaces(Endpoint& endpoint, std::uint64_t group, std::span<PlaceGroup> places) const;

  Place place_;
  std::vector<std::uint64_t> filled_;
  std::optional<CompactOffsets> index_;
  std::optional<EdgeCache> cache_;
};

template <typename Visit>
Status DelegatedLists::VisitLengths(Endpoint& endpoint, Visit visit) const {
  if (index_) {
    for (VertexId v = 0; v < place_.count; ++v) visit(v, EdgeOffset{index_->length(v)});
    return {};
  }
  constexpr std::uint64_t kPiece = 1 << 13;
  std::vector<PlaceGroup> places;
  for (std::uint64_t group = 0; group < PlaceGroups(place_.count); group += kPiece) {
    places.resize(std::min(kPiece, PlaceGroups(place_.count) - group));
    SLIM_TRY(ReadPlaces(endpoint, group, places));
    const std::uint64_t first = group * PlaceGroup::kLists;
    const std::uint64_t end =
        std::min<std::uint64_t>(first + places.size() * PlaceGroup::kLists, place_.count);
    for (std::uint64_t v = first; v < end; ++v) {
      const PlaceGroup& places_of = places[(v - first) / PlaceGroup::kLists];
      visit(static_cast<VertexId>(v), EdgeOffset{places_of.lengths[v % PlaceGroup::kLists]});
    }
  }
  return {};
}

}  // namespace slimgraph
