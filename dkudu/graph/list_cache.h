// Lists of other nodes that a compute node keeps for the whole job: those of the vertices of the
// highest degree, as many as its budget holds, each from the first time that it is asked for. The
// node's threads share them; nothing is ever evicted, so that a list found stays where it is.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "dkudu/graph/mining_graph.h"

namespace slimgraph {

class ListCache {
 public:
  ListCache(const MiningGraph& graph, std::uint64_t budget_bytes);

  std::optional<List> Find(VertexId v) const {
    if (v < first_ || state_[v - first_].load(std::memory_order_acquire) != kReady) {
      return std::nullopt;
    }
    return List(Slot(v), graph_.displacements().size(v));
  }
  bool keeps(VertexId v) const { return v >= first_; }
  // Does nothing for a vertex that it does not keep or another thread has brought.
  void Keep(VertexId v, List list);

 private:
  enum State : std::uint8_t { kAbsent, kFilling, kReady };
  VertexId* Slot(VertexId v) const;

  const MiningGraph& graph_;
  VertexId first_;  // keeps this vertex and all above, but for the node's own
  std::unique_ptr<std::atomic<std::uint8_t>[]> state_;
  std::vector<std::uint64_t> home_begin_;  // in memory_: where each home's lists start
  std::vector<std::uint64_t> home_first_;  // in the home's region: the list that stands there
  std::unique_ptr<VertexId[]> memory_;
};

}  // namespace slimgraph
