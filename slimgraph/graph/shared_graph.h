// A graph in the memory of all nodes of a cluster. Each node holds its part of the lists, by NUMA
// socket, in regions that every other node can read. Engines and applications start here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/files/graph_source.h"
#include "slimgraph/graph/load.h"
#include "slimgraph/graph/memory_plan.h"
#include "slimgraph/graph/partition.h"

namespace slimgraph {

// The regions of one socket's lists; the same ids on all nodes.
struct ListRegions {
  RegionId offsets = 0;     // EdgeOffset: the part's vertices + 1, beginning with 0
  RegionId neighbours = 0;  // VertexId: global ids
  RegionId weights = 0;     // unused in a graph without weights
};

// One socket's lists of this node.
struct SharedLists {
  ListRegions regions;
  ListSpans spans;
};

// Collective: loads this node's lists of a part into regions that all nodes can read.
Result<SharedLists> ShareLists(Cluster& cluster, const GraphSource& file, const VertexPart& part,
                               Direction direction, bool weights, std::uint32_t socket);

// Collective: checks that all nodes see the same file, and divide it by the same number of sockets.
Status AgreeOnFile(Cluster& cluster, const GraphSource& file, std::uint32_t sockets);

// Collective: the partition that ChunkPartition::Balance makes for all nodes. Each node reads only
// its share of the offsets. `alpha`: the cost of a vertex relative to that of an edge.
Result<ChunkPartition> CollectiveBalance(Cluster& cluster, const GraphSource& file,
                                         Direction direction, std::uint32_t sockets, double alpha);

// Collective: checks that the plan fits into the memory of each machine. If it does not on one of
// them, all nodes refuse with the same error. Call it before allocating anything.
Status AgreeThatFits(Cluster& cluster, const MemoryPlan& plan);

// Collective: AgreeThatFits, then AgreeOnFile.
Status AgreeToLoad(Cluster& cluster, const GraphSource& file, std::uint32_t sockets,
                   const MemoryPlan& plan);

// The number of threads that this node loads with: its share of the machine's processors.
std::size_t LoadingThreads(Cluster& cluster);

template <typename Partition>
class SharedGraph {
 public:
  // Collective. Calls `announce` with the memory plan, then returns an error if the plan does not
  // fit into the memory of this machine. `announce` may add the caller's own memory to the plan.
  static Result<std::unique_ptr<SharedGraph>> Load(
      Cluster& cluster, const GraphSource& file, Partition partition, const GraphNeeds& needs,
      const std::function<void(MemoryPlan&)>& announce);

  const Partition& partition() const { return partition_; }
  const MemoryPlan& plan() const { return plan_; }
  std::uint32_t sockets() const { return partition_.sockets(); }

  // In an undirected graph both directions have the same lists.
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
  std::vector<SharedLists> in_;   // empty unless a directed graph's in lists are needed
};

}  // namespace slimgraph
