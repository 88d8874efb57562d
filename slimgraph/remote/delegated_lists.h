// The lists of one part on a memory node, as its delegate sees them: where to read them, and what
// of them is at hand. Vertices are numbered from 0 within the part.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/fabric/fabric.h"
#include "slimgraph/graph/shared_graph.h"
#include "slimgraph/remote/cache_options.h"
#include "slimgraph/remote/compact_offsets.h"
#include "slimgraph/remote/edge_cache.h"

namespace slimgraph {

class DelegatedLists {
 public:
  struct Place {
    NodeId node = 0;
    VertexId count = 0;  // vertices
    ListRegions regions;
    std::size_t weight_bytes = 0;  // 0: weights are not wanted
  };
  // Fills the caches but that of the lists, with reads of `endpoint`. `whole`: `room` holds all
  // lists of all parts.
  static Result<std::unique_ptr<DelegatedLists>> Make(Fabric& fabric, Endpoint& endpoint,
                                                      const Place& place, CacheLevel level,
                                                      CacheRoom& room, bool whole);

  const Place& place() const { return place_; }
  EdgeOffset arcs() const { return arcs_; }
  const CompactOffsets* index() const { return index_ ? &*index_ : nullptr; }
  EdgeCache* cache() { return cache_ ? &*cache_ : nullptr; }

  // False only where the list is known to be empty.
  bool MayHaveList(VertexId v) const {
    if (index_) return index_->length(v) > 0;
    return filled_.empty() || (filled_[v / 64] >> (v % 64) & 1) != 0;
  }

  // visit(v, length) for all lists in order, from the index or from afar.
  template <typename Visit>
  Status VisitLengths(Endpoint& endpoint, Visit visit) const;

  std::uint64_t bytes_at_hand() const {
    return filled_.size() * sizeof(filled_[0]) + (index_ ? index_->bytes() : 0);
  }

 private:
  explicit DelegatedLists(const Place& place) : place_(place) {}
  // `offsets` becomes those of the vertices first .. and of the one behind.
  Status ReadOffsets(Endpoint& endpoint, VertexId first, std::vector<EdgeOffset>& offsets) const;

  Place place_;
  EdgeOffset arcs_ = 0;
  std::vector<std::uint64_t> filled_;
  std::optional<CompactOffsets> index_;
  std::optional<EdgeCache> cache_;
};

template <typename Visit>
Status DelegatedLists::VisitLengths(Endpoint& endpoint, Visit visit) const {
  constexpr VertexId kPiece = 1 << 16;
  std::vector<EdgeOffset> offsets;
  for (VertexId first = 0; first < place_.count; first += kPiece) {
    const VertexId count = std::min(kPiece, place_.count - first);
    if (index_) {
      for (VertexId v = first; v < first + count; ++v) visit(v, index_->length(v));
      continue;
    }
    offsets.resize(count + std::size_t{1});
    SLIM_TRY(ReadOffsets(endpoint, first, offsets));
    for (VertexId i = 0; i < count; ++i) visit(first + i, offsets[i + 1] - offsets[i]);
  }
  return {};
}

}  // namespace slimgraph
