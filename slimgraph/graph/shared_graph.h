// A graph that lies in the memory of all nodes of a cluster: each holds its part of the lists, by
// NUMA socket, in regions that every other node can read. Engines and applications start here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/graph_source.h"
#include "slimgraph/graph/load.h"
#include "slimgraph/graph/memory_plan.h"
#include "slimgraph/graph/partition.h"

namespace slimgraph {

// The regions of one socket's lists; the same ids on all nodes.
struct ListRegions {
  RegionId offsets = 0;     // EdgeOffset, one more than the part has vertices, from 0
  RegionId neighbours = 0;  // VertexId, global
  RegionId weights = 0;     // meaningless in a graph without
};

// One socket's lists of this node.
struct SharedLists {
  ListRegions regions;
  ListSpans spans;
};

// Collective: this node's lists of a part, reachable from all.
Result<SharedLists> ShareLists(Cluster& cluster, const GraphSource& file, const VertexPart& part,
                               Direction direction, bool weights, std::uint32_t socket);

// Collective: whether all nodes see the same file, and divide it alike.
Status AgreeOnFile(Cluster& cluster, const GraphSource& file, std::uint32_t sockets);

// Collective: the partition that ChunkPartition::Balance makes for all nodes; each of them reads
// its share of the offsets.
Result<ChunkPartition> BalanceTogether(Cluster& cluster, const GraphSource& file,
                                       Direction direction, std::uint32_t sockets);

// Before anything is taken: whether the plan fits into the memory of this machine.
Status CheckFitsHere(Cluster& cluster, const MemoryPlan& plan);

// Both of them.
Status AgreeToLoad(Cluster& cluster, const GraphSource& file, std::uint32_t sockets,
                   const MemoryPlan& plan);

// This node's share of the processors of its machine.
std::size_t LoadingThreads(Cluster& cluster);

template <typename Partition>
class SharedGraph {
 public:
  // Collective. Announces what it will need, then refuses what does not fit into the memory of this
  // machine.
  static Result<std::unique_ptr<SharedGraph>> Load(
      Cluster& cluster, const GraphSource& file, Partition partition, const GraphNeeds& needs,
      const std::function<void(const MemoryPlan&)>& announce);

  const Partition& partition() const { return partition_; }
  const MemoryPlan& plan() const { return plan_; }
  std::uint32_t sockets() const { return partition_.sockets(); }

  // An undirected graph's lists are the same in both directions.
  const ListRegions& regions(Direction direction, std::uint32_t socket) const {
    return lists(direction)[socket].regions;
  }
  // This node's own lists.
  const ListSpans& own(Direction direction, std::uint32_t socket) const {
    return lists(direction)[socket].spans;
  }

 private:
  SharedGraph(Partition partition, MemoryPlan plan)
      : partition_(std::move(partition)), plan_(std::move(plan)) {}

  const std::vector<SharedLists>& lists(Direction direction) const {
    return direction == Direction::kIn && !in_.empty() ? in_ : out_;
  }
  Partition partition_;
  MemoryPlan plan_;
  std::vector<SharedLists> out_;  // by socket
  std::vector<SharedLists> in_;   // of a directed graph whose in lists are needed
};

}  // namespace slimgraph
