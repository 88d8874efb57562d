// The graph as D-Kudu mines it: simple and undirected. A vertex is identified by its rank in the
// degree order. Each list has a home, where it lies coded (remote/list_code.h) in memory that every
// node can read. Vertices are dealt out to the homes in turn. All nodes are homes; in a job on a
// standing pool, only its memory nodes are. A compute node also keeps its own lists decoded.
// Applications only load the graph and pass it to the engine's functions.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dkudu/internal/graph/file_lists.h"
#include "dkudu/internal/kernel/sets.h"
#include "dkudu/standing_lists.h"
#include "slimgraph/base/page_buffer.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/files/graph_source.h"
#include "slimgraph/graph/memory_plan.h"
#include "slimgraph/remote/compact_offsets.h"

namespace slimgraph::dkudu {

// The memory that this node takes besides its part of the graph; announced together with it.
struct WorkingMemory {
  std::uint64_t own_bytes = 0;
  std::uint64_t mapped_bytes = 0;  // pages of other nodes that its process maps
};

class MiningGraph {
 public:
  // Computes the memory that this node takes. Called when the graph's list lengths and sums are
  // known, but its lists are not loaded yet.
  using WorkingMemoryOf = std::function<WorkingMemory(const MiningGraph&)>;

  // Collective. Each node reads one part of the file and sends lists to their homes, or reads its
  // own lists if the file has them ready (ranked_lists.h). Refuses a graph without vertices and,
  // unless `part` is kArcs, a directed one; skips self-loops and duplicate edges of the file.
  // Announces the plan before it loads the lists.
  static Result<std::unique_ptr<MiningGraph>> Load(
      Cluster& cluster, const GraphSource& file, ListPart part, const WorkingMemoryOf& working,
      const std::function<void(const MemoryPlan&)>& announce);
  // Collective: the same for lists that stand in a pool. `own` are those of this node; null on
  // compute nodes.
  static Result<std::unique_ptr<MiningGraph>> Attach(
      Cluster& cluster, const GraphSource& file, ListPart part, const StandingLists* own,
      const WorkingMemoryOf& working, const std::function<void(const MemoryPlan&)>& announce);

  VertexId vertices() const { return vertices_; }
  NodeId nodes() const { return nodes_; }
  NodeId self() const { return self_; }
  ListPart part() const { return part_; }
  // The nodes from first_home() on are homes. A home knows its lists by number.
  NodeId first_home() const { return first_home_; }
  NodeId homes() const { return homes_; }
  NodeId home(VertexId v) const { return first_home_ + (homes_ == 1 ? 0 : v % homes_); }
  VertexId number(VertexId v) const { return homes_ == 1 ? v : v / homes_; }
  VertexId vertex(NodeId home, VertexId number) const {
    return home - first_home_ + number * homes_;
  }
  bool is_own(VertexId v) const { return home(v) == self_; }
  NodeId compute() const { return kDelegates ? compute_ : nodes_; }
  std::uint32_t threads() const { return threads_; }  // of each compute node

  // A compute node works on its own vertices and on those of the memory nodes whose delegate it is.
  // If the number of memory nodes is no multiple of the compute nodes, the last few are not
  // delegated. Their vertices are distributed over all compute nodes.
  bool is_distributed(NodeId home) const {
    return kDelegates && home >= nodes_ / compute_ * compute_;
  }
  bool is_root(VertexId v) const { return worker(v, compute_) == self_; }
  // The compute node that works on v, if the job has so many.
  NodeId worker(VertexId v, NodeId compute) const {
    const NodeId first = first_home_ == 0 ? 0 : compute;  // the compute nodes of a pool's job
    const NodeId at = home(v) - first_home_ + first;
    if (!kDelegates) return at;
    const bool is_distributed = at >= (first + homes_) / compute * compute;
    return (is_distributed ? number(v) : at) % compute;
  }
  // The homes of this compute node's roots.
  std::vector<NodeId> root_homes() const;
  bool computes() const { return self_ < compute(); }

  // Only on compute nodes.
  List own(VertexId v) const {
    const CompactOffsets::Arcs arcs = index_[self_].FindArcs(number(v));
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
  // A home's coded lists, if this process can read them where they are; otherwise null.
  const std::byte* in_place(NodeId home) const {
    return in_place_.empty() ? nullptr : in_place_[home];
  }
  // The positions of a home's lists.
  const CompactOffsets& index(NodeId home) const { return index_[home]; }
  CompactOffsets::Arcs FindArcs(VertexId v) const { return index_[home(v)].FindArcs(number(v)); }
  // Where v's coded list begins at its home.
  std::uint64_t FindByte(VertexId v) const { return index_[home(v)].FindByte(number(v)); }
  // The length of v's list; its degree if lists are complete.
  std::uint64_t degree(VertexId v) const { return index_[home(v)].length(number(v)); }
  const DegreeSums& sums() const { return sums_; }
  // The arcs in the lists of all other nodes.
  EdgeOffset remote_arcs() const { return arcs_ - index_[self_].arcs(); }
  std::uint64_t remote_list_bytes() const { return remote_arcs() * sizeof(VertexId); }
  std::uint64_t remote_coded_bytes() const;
  // The arcs in all lists of all nodes.
  EdgeOffset arcs() const { return arcs_; }
  VertexId dense(VertexId v) const { return dense_of_[v]; }

 private:
  MiningGraph(const Cluster& cluster, ListPart part, VertexId vertices, NodeId first_home)
      : nodes_(cluster.topology().nodes()),
        first_home_(first_home),
        homes_(nodes_ - first_home),
        compute_(cluster.topology().compute()),
        threads_(cluster.threads()),
        self_(cluster.self()),
        vertices_(vertices),
        part_(part),
        code_(vertices << EntryBits(part)) {}
  // Collective. `lists`: those of this node's part of the file.
  Status Measure(Cluster& cluster, const ChunkPartition& parts, FileLists& lists);
  // Collective: allocates the memory for this node's lists.
  Status MakeRoom(Cluster& cluster);
  Status Fill(Cluster& cluster, FileLists& lists, std::size_t threads);
  // Whether other nodes read this node's lists.
  bool is_read() const { return compute() > 1 || self_ >= compute(); }
  // The memory that this node's lists take on it.
  std::uint64_t own_bytes() const;
  VertexId count_of(NodeId home) const {
    return home < first_home_ ? 0 : (vertices_ + homes_ - 1 - (home - first_home_)) / homes_;
  }
  // Collective: sets the sums of the graph from those that each node has.
  Status AddSums(Cluster& cluster, const DegreeSums& mine);
  // Appends the index of the next node.
  void AddIndex(std::span<const std::uint32_t> lengths);
  // `loading_bytes`: the most memory that loading takes until, and after, the lists are measured.
  struct LoadingBytes {
    std::uint64_t to_measure = 0;
    std::uint64_t to_fill = 0;
  };
  Result<MemoryPlan> Plan(Cluster& cluster, std::uint64_t process_bytes, LoadingBytes loading,
                          const WorkingMemory& working) const;
  // Collective: loads the lists that the file has ready.
  Status LoadRanked(Cluster& cluster, const GraphSource& file,
                    const std::function<Status(LoadingBytes)>& plan_and_announce);
  // Keeps one of this node's lists, as it was made or as it came from another node.
  // `is_coded`: its code is there already.
  void Keep(VertexId number, List list, bool is_coded = false);
  std::size_t KeepCoded(VertexId number, const std::byte* coded);
  // Of lists in a pool: what the next home tells, and a home's index of its own lists.
  Status ReadDescription(Endpoint& endpoint, NodeId home, RegionId region);
  void AddOwnIndex(const StandingLists& own);
  void FindInPlace(const Fabric& fabric);

  NodeId nodes_;
  NodeId first_home_;
  NodeId homes_;
  NodeId compute_;
  std::uint32_t threads_;
  NodeId self_;
  VertexId vertices_;
  ListPart part_;
  ListCode code_;
  RegionId region_ = 0;
  std::vector<const std::byte*> in_place_;  // by home; empty: none
  MutableBytes coded_;                      // this node's coded lists
  PageBuffer own_lists_;
  VertexId* lists_ = nullptr;          // in own_lists_
  std::vector<CompactOffsets> index_;  // by home
  EdgeOffset arcs_ = 0;
  DegreeSums sums_;
  std::vector<VertexId> dense_of_;
};

}  // namespace slimgraph::dkudu
