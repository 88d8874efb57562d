#include "slimgraph/remote/edge_cache.h"

namespace slimgraph {

Result<EdgeCache> EdgeCache::Make(VertexId groups, EdgeOffset arcs, std::size_t weight_bytes,
                                  CacheRoom& room, bool whole) {
  EdgeCache cache(room, groups, weight_bytes, whole);
  if (arcs > 0) {
    // Small pages hold no more than the lists in them.
    const auto pages = whole ? PageBuffer::Pages::kHuge : PageBuffer::Pages::kSmall;
    SLIM_ASSIGN(cache.ids_, PageBuffer::Allocate(arcs * sizeof(VertexId), pages));
    if (weight_bytes > 0) {
      SLIM_ASSIGN(cache.weights_, PageBuffer::Allocate(arcs * weight_bytes, pages));
    }
  }
  return cache;
}

bool EdgeCache::Claim(VertexId group, EdgeOffset arcs) {
  std::uint8_t away = kAway;
  if (!states_[group].compare_exchange_strong(away, kComing)) return false;
  if (room_->Take(arcs * (sizeof(VertexId) + weight_bytes_))) return true;
  states_[group].store(kAway);
  return false;
}

}  // namespace slimgraph
