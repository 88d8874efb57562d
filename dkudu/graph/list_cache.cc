#include "dkudu/graph/list_cache.h"

#include <algorithm>

namespace slimgraph {

ListCache::ListCache(const MiningGraph& graph, std::uint64_t budget_bytes)
    : graph_(graph), first_(graph.vertices()) {
  const Displacements& displacements = graph.displacements();
  const NodeId nodes = graph.nodes();
  std::uint64_t entries = 0;
  while (nodes > 1 && first_ > 0) {
    const VertexId next = first_ - 1;
    const std::uint64_t more = graph.is_own(next) ? 0 : displacements.size(next);
    if ((entries + more) * sizeof(VertexId) > budget_bytes) break;
    entries += more;
    first_ = next;
  }
  const VertexId kept = graph.vertices() - first_;
  state_ = std::make_unique<std::atomic<std::uint8_t>[]>(kept);
  memory_ = std::make_unique_for_overwrite<VertexId[]>(entries);
  std::uint64_t begin = 0;
  for (NodeId home = 0; home < nodes; ++home) {
    const VertexId index = first_ / nodes + (first_ % nodes > home ? 1 : 0);
    home_begin_.push_back(begin);
    home_first_.push_back(displacements.begin(home, index));
    if (home != graph.self()) begin += displacements.total(home) - home_first_.back();
  }
}

VertexId* ListCache::Slot(VertexId v) const {
  const NodeId home = graph_.home(v);
  return memory_.get() + home_begin_[home] + graph_.displacements().begin(v) - home_first_[home];
}

void ListCache::Keep(VertexId v, List list) {
  if (v < first_ || graph_.is_own(v)) return;
  auto& state = state_[v - first_];
  std::uint8_t absent = kAbsent;
  if (!state.compare_exchange_strong(absent, kFilling)) return;
  std::copy(list.begin(), list.end(), Slot(v));
  state.store(kReady, std::memory_order_release);
}

}  // namespace slimgraph
