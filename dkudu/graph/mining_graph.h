// The graph as D-Kudu mines it: simple and undirected, its vertices called by their place in the
// degree order, each list with its home (place mod N) in memory that every node can read. The
// engine's functions take one; applications load it and need nothing else of it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dkudu/graph/degree_order.h"
#include "dkudu/graph/displacements.h"
#include "dkudu/kernel/sets.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/graph_source.h"
#include "slimgraph/graph/memory_plan.h"

namespace slimgraph {

// What of each list is kept: the neighbours above its vertex alone, half the memory and enough for
// triangles and cliques, or all.
enum class ListPart { kUp, kAll };

// What a compute node takes besides the graph, to be announced with it.
struct WorkingMemory {
  std::uint64_t bytes = 0;
  std::uint64_t list_bytes = 0;  // for lists of other nodes: no more than there are
};

// Sums over all vertices of the graph, which every node knows.
struct DegreeSums {
  std::uint64_t arcs = 0;
  std::uint64_t most = 0;
  std::uint64_t most_above = 0;   // neighbours above one vertex
  unsigned __int128 pairs = 0;    // of the neighbours of one vertex: d (d - 1) / 2
  unsigned __int128 triples = 0;  // d (d - 1) (d - 2) / 6
};

class MiningGraph {
 public:
  // Collective. Refuses a directed graph and one without vertices; self-loops and duplicate edges
  // of the file are left out.
  static Result<std::unique_ptr<MiningGraph>> Load(
      Cluster& cluster, const GraphSource& file, ListPart part, const WorkingMemory& working,
      const std::function<void(const MemoryPlan&)>& announce);

  VertexId vertices() const { return static_cast<VertexId>(dense_of_.size()); }
  NodeId nodes() const { return nodes_; }
  NodeId self() const { return self_; }
  ListPart part() const { return part_; }
  NodeId home(VertexId v) const { return nodes_ == 1 ? 0 : v % nodes_; }
  bool is_own(VertexId v) const { return home(v) == self_; }
  NodeId compute() const { return kDelegates ? compute_ : nodes_; }
  std::uint32_t threads() const { return threads_; }  // of each compute node

  // A compute node works on its own vertices and on those of the memory nodes whose delegate it is.
  // Memory nodes that would leave some with one more than others are not delegated: their vertices
  // are dealt out to all compute nodes.
  bool is_dealt_out(NodeId home) const {
    return kDelegates && home >= nodes_ / compute_ * compute_;
  }
  bool is_root(VertexId v) const {
    const NodeId at = home(v);
    if (!kDelegates) return at == self_;
    return (is_dealt_out(at) ? v / nodes_ : at) % compute_ == self_;
  }
  // The homes of this compute node's roots.
  std::vector<NodeId> root_homes() const;

  List own(VertexId v) const {
    const VertexId index = nodes_ == 1 ? v : v / nodes_;
    const std::uint64_t begin = displacements_.begin(self_, index);
    return {lists_ + begin, lists_ + displacements_.begin(self_, index + 1)};
  }
  List own_entries(std::uint64_t begin, std::uint64_t entries) const {
    return {lists_ + begin, entries};
  }
  // The neighbours above v of a list of v, which has them alone or all.
  List up(VertexId v, List list) const { return part_ == ListPart::kUp ? list : Above(list, v); }
  RegionId region() const { return region_; }
  const Displacements& displacements() const { return displacements_; }
  // With all of each list alone.
  std::uint64_t degree(VertexId v) const { return displacements_.size(v); }
  const DegreeSums& sums() const { return sums_; }
  VertexId dense(VertexId v) const { return dense_of_[v]; }

 private:
  MiningGraph(const Cluster& cluster, ListPart part)
      : nodes_(cluster.topology().nodes()),
        compute_(cluster.topology().compute()),
        threads_(cluster.threads()),
        self_(cluster.self()),
        part_(part) {}
  Status Fill(Cluster& cluster, const GraphSource& file, const DegreeOrder& order);
  Status AddSums(Cluster& cluster, std::span<const std::uint32_t> degrees,
                 std::uint64_t most_above);

  NodeId nodes_;
  NodeId compute_;
  std::uint32_t threads_;
  NodeId self_;
  ListPart part_;
  RegionId region_ = 0;
  const VertexId* lists_ = nullptr;  // this node's
  Displacements displacements_;
  DegreeSums sums_;
  std::vector<VertexId> dense_of_;
};

}  // namespace slimgraph
