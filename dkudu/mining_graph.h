// The graph as D-Kudu mines it: simple and undirected. A vertex is identified by its rank in the
// degree order. Each list has a home (rank mod N), where it lies coded (remote/list_code.h) in
// memory that every node can read. A compute node also keeps its own lists decoded. Applications
// only load the graph and pass it to the engine's functions.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dkudu/internal/graph/degree_order.h"
#include "dkudu/internal/kernel/sets.h"
#include "slimgraph/base/page_buffer.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/files/graph_source.h"
#include "slimgraph/graph/memory_plan.h"
#include "slimgraph/remote/compact_offsets.h"

namespace slimgraph::dkudu {

// Which part of each list is kept: only the neighbours above its vertex, which takes half the
// memory and suffices for triangles and cliques, or the complete list. kArcs: of a directed graph
// the neighbours in both directions, each with a bit that tells whether an arc leads to it. Of an
// undirected graph, kArcs is the same as kAll.
enum class ListPart { kUpper, kAll, kArcs };

// The memory that this node takes besides its part of the graph; announced together with it.
struct WorkingMemory {
  std::uint64_t own_bytes = 0;
  std::uint64_t mapped_bytes = 0;  // pages of other nodes that its process maps
};

// Sums over all vertices of the graph, which every node knows.
struct DegreeSums {
  std::uint64_t arcs = 0;
  std::uint64_t most = 0;
  std::uint64_t most_above = 0;    // most neighbours above one vertex
  std::uint64_t matrix_bytes = 0;  // of bit matrices, one for the neighbours above each vertex
  unsigned __int128 pairs = 0;     // pairs of neighbours of one vertex: d (d - 1) / 2
  unsigned __int128 triples = 0;   // d (d - 1) (d - 2) / 6
};

class MiningGraph {
 public:
  // Computes the memory that this node takes. Called when the graph's list lengths and sums are
  // known, but its lists are not loaded yet.
  using WorkingMemoryOf = std::function<WorkingMemory(const MiningGraph&)>;

  // Collective. Refuses a graph without vertices and, unless `part` is kArcs, a directed one; skips
  // self-loops and duplicate edges of the file. Announces the plan before it loads the lists.
  static Result<std::unique_ptr<MiningGraph>> Load(
      Cluster& cluster, const GraphSource& file, ListPart part, const WorkingMemoryOf& working,
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
  // If the number of memory nodes is no multiple of the compute nodes, the last few are not
  // delegated. Their vertices are distributed over all compute nodes.
  bool is_distributed(NodeId home) const {
    return kDelegates && home >= nodes_ / compute_ * compute_;
  }
  bool is_root(VertexId v) const {
    const NodeId at = home(v);
    if (!kDelegates) return at == self_;
    return (is_distributed(at) ? v / nodes_ : at) % compute_ == self_;
  }
  // The homes of this compute node's roots.
  std::vector<NodeId> root_homes() const;
  bool computes() const { return self_ < compute(); }

  // With kArcs, an entry of a list is twice the neighbour, plus 1 if an arc leads from the list's
  // vertex to it. Otherwise an entry is the neighbour.
  static constexpr unsigned EntryBits(ListPart part) { return part == ListPart::kArcs ? 1 : 0; }

  // Only on compute nodes.
  List own(VertexId v) const {
    const VertexId index = nodes_ == 1 ? v : v / nodes_;
    const CompactOffsets::Arcs arcs = index_[self_].FindArcs(index);
    return {lists_ + arcs.begin, arcs.length};
  }
  // This node's coded lists, which other nodes read.
  Bytes coded() const { return coded_; }
  const ListCode& code() const { return code_; }
  // The neighbours above v in `list`, which is v's list as this graph keeps it.
  List upper(VertexId v, List list) const {
    return part_ == ListPart::kUpper ? list : Above(list, v);
  }
  RegionId region() const { return region_; }
  // The positions of a home's lists; v's list is number v / nodes().
  const CompactOffsets& index(NodeId home) const { return index_[home]; }
  CompactOffsets::Arcs FindArcs(VertexId v) const {
    return index_[v % nodes_].FindArcs(v / nodes_);
  }
  // Where v's coded list begins at its home.
  std::uint64_t FindByte(VertexId v) const { return index_[v % nodes_].FindByte(v / nodes_); }
  // The length of v's list; its degree if lists are complete.
  std::uint64_t degree(VertexId v) const { return index_[v % nodes_].length(v / nodes_); }
  const DegreeSums& sums() const { return sums_; }
  // The arcs in the lists of all other nodes.
  EdgeOffset remote_arcs() const { return arcs_ - index_[self_].arcs(); }
  std::uint64_t remote_list_bytes() const { return remote_arcs() * sizeof(VertexId); }
  std::uint64_t remote_coded_bytes() const;
  // The arcs in all lists of all nodes.
  EdgeOffset arcs() const { return arcs_; }
  VertexId dense(VertexId v) const { return dense_of_[v]; }

 private:
  MiningGraph(const Cluster& cluster, ListPart part, VertexId vertices)
      : nodes_(cluster.topology().nodes()),
        compute_(cluster.topology().compute()),
        threads_(cluster.threads()),
        self_(cluster.self()),
        part_(part),
        code_(vertices << EntryBits(part)) {}
  // The ranks are needed only while lists are loaded.
  using Ranks = std::vector<VertexId>;  // by dense id
  Status Measure(Cluster& cluster, const GraphSource& file, const Ranks& rank_of);
  // Whether other nodes read this node's lists.
  bool is_read() const { return compute() > 1 || self_ >= compute(); }
  // The memory that this node's lists take on it.
  std::uint64_t own_bytes() const;
  // Builds the index from the lengths of all lists, by home.
  void MakeIndex(VertexId vertices, const std::vector<std::vector<std::byte>>& lengths);
  Result<MemoryPlan> Plan(Cluster& cluster, const GraphSource& file, std::uint64_t process_bytes,
                          const WorkingMemory& working) const;
  Status Fill(Cluster& cluster, const GraphSource& file, const Ranks& rank_of);
  // On entry, `mine` has this node's sums over the neighbours above its vertices.
  Status AddSums(Cluster& cluster, std::span<const std::uint32_t> degrees, DegreeSums mine);

  NodeId nodes_;
  NodeId compute_;
  std::uint32_t threads_;
  NodeId self_;
  ListPart part_;
  ListCode code_;
  RegionId region_ = 0;
  MutableBytes coded_;  // this node's coded lists
  PageBuffer own_lists_;
  const VertexId* lists_ = nullptr;    // in own_lists_
  std::vector<CompactOffsets> index_;  // by home
  EdgeOffset arcs_ = 0;
  DegreeSums sums_;
  std::vector<VertexId> dense_of_;
};

}  // namespace slimgraph::dkudu
