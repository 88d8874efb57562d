#include "slimgraph/remote/edge_cache.h"

namespace slimgraph {

Result<EdgeCache> EdgeCache::Make(VertexId groups, EdgeOffset arcs, std::size_t weight_bytes,
                                  CacheBudget& budget, bool whole) {
  EdgeCache cache(budget, groups, weight_bytes, whole);
  if (arcs > 0) {
    // A partly filled cache uses small pages, because only pages with cached lists take memory.
    const auto pages = whole ? PageBuffer::Pages::kHuge : PageBuffer::Pages::kSmall;
    SLIM_ASSIGN(cache.ids_, PageBuffer::Allocate(arcs * sizeof(VertexId), pages));
    if (weight_bytes > 0) {
      SLIM_ASSIGN(cache.weights_, PageBuffer::Allocate(arcs * weight_bytes, pages));
    }
  }
  return cache;
}

bool EdgeCache::Claim(VertexId group, EdgeOffset arcs) {
  std::uint8_t absent = kAbsent;
  if (!states_[group].compare_exchange_strong(absent, kLoading)) return false;
  if (budget_->TryReserve(arcs * (sizeof(VertexId) + weight_bytes_))) return true;
  states_[group].store(kAbsent);
  return false;
}

}  // namespace slimgraph
