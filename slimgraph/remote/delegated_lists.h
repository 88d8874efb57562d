// The lists of one part on a memory node, as its delegate sees them: where to read them, and which
// of them are cached here. Vertices are numbered from 0 within the part.
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
  struct Part {
    NodeId node = 0;
    VertexId first = 0;  // the first vertex of the part, which is contiguous
    VertexId count = 0;
    EdgeOffset arcs = 0;
    ServedRegions regions;
    std::size_t weight_bytes = 0;  // of one weight; 0 if weights are not needed
    ListCode code;
    PartBegin begin = {};
    VertexId region_lists = 0;   // how many lists the regions have, at least `count`
    ListsInPlace in_place = {};  // of the part; not used without an index
  };
  // Fills the bitmap or the index with reads of `endpoint`; the edge cache starts empty. `whole`
  // says that `budget` suffices for all lists of all parts, decoded.
  static Result<std::unique_ptr<DelegatedLists>> Make(Endpoint& endpoint, const Part& part,
                                                      CacheLevel level, CacheBudget& budget,
                                                      bool whole);

  const Part& part() const { return part_; }
  const CompactOffsets* index() const { return index_ ? &*index_ : nullptr; }
  EdgeCache* cache() { return cache_ ? &*cache_ : nullptr; }

  // False only if the list is known to be empty.
  bool MayHaveList(VertexId v) const {
    if (index_) return index_->length(v) > 0;
    return nonempty_.empty() || (nonempty_[v / 64] >> (v % 64) & 1) != 0;
  }
  // The length of a list; without an index, the average length.
  EdgeOffset ExpectedLength(VertexId v) const {
    return index_ ? index_->length(v) : part_.arcs / part_.count + 1;
  }

  // Whether lists are read where they are.
  bool in_place() const { return index_ && !part_.in_place.lists.empty(); }
  // Whether reading the list takes no operation.
  bool IsHere(VertexId v) const {
    if (in_place()) return true;
    return cache_ && cache_->form(v / CompactOffsets::kGroup) >= EdgeCache::Form::kDecoded;
  }
  // The list, if it is in the edge cache, decoded.
  std::optional<Neighbours> Cached(VertexId v) const {
    if (!cache_ || !cache_->HasDecoded(v / CompactOffsets::kGroup)) return std::nullopt;
    const CompactOffsets::Arcs arcs = index_->FindArcs(v);
    return cache_->List(arcs.begin, arcs.length);
  }
  // Prefetches what Cached(v) reads of the index.
  void PrefetchIndex(VertexId v) const {
    if (index_) index_->Prefetch(v);
  }

  // Calls visit(v, length) for all lists in order. Without an index it reads the lengths from the
  // memory node.
  template <typename Visit>
  Status VisitLengths(Endpoint& endpoint, Visit visit) const;

  std::uint64_t index_bytes() const {
    return nonempty_.size() * sizeof(nonempty_[0]) + (index_ ? index_->bytes() : 0);
  }

 private:
  explicit DelegatedLists(const Part& part) : part_(part) {}
  // Reads `offset_groups` from the memory node's table, beginning with entry `group`.
  Status ReadOffsetGroups(Endpoint& endpoint, std::uint64_t group,
                          std::span<OffsetGroup> offset_groups) const;

  Part part_;
  std::vector<std::uint64_t> nonempty_;
  std::optional<CompactOffsets> index_;
  std::optional<EdgeCache> cache_;
};

template <typename Visit>
Status DelegatedLists::VisitLengths(Endpoint& endpoint, Visit visit) const {
  if (index_) {
    for (VertexId v = 0; v < part_.count; ++v) visit(v, EdgeOffset{index_->length(v)});
    return {};
  }
  constexpr std::uint64_t kPiece = 1 << 13;
  std::vector<OffsetGroup> offset_groups;
  for (std::uint64_t group = 0; group < OffsetGroups(part_.count); group += kPiece) {
    offset_groups.resize(std::min(kPiece, OffsetGroups(part_.count) - group));
    SLIM_TRY(ReadOffsetGroups(endpoint, group, offset_groups));
    const std::uint64_t first = group * OffsetGroup::kLists;
    const std::uint64_t end =
        std::min<std::uint64_t>(first + offset_groups.size() * OffsetGroup::kLists, part_.count);
    for (std::uint64_t v = first; v < end; ++v) {
      const OffsetGroup& offsets_of = offset_groups[(v - first) / OffsetGroup::kLists];
      visit(static_cast<VertexId>(v), EdgeOffset{offsets_of.lengths[v % OffsetGroup::kLists]});
    }
  }
  return {};
}

}  // namespace slimgraph
