// What a compute node works on, its share: its own part of the graph and the parts of its memory
// nodes, as segments. Code above this header does not know which segments are in its own memory.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "dgemini/exchange.h"
#include "dgemini/internal/work_division.h"
#include "dgemini/vertex_array.h"
#include "dgemini/workload_plan.h"
#include "slimgraph/base/node_set.h"
#include "slimgraph/graph/private_lists.h"
#include "slimgraph/graph/shared_graph.h"
#include "slimgraph/remote/delegated_lists.h"
#include "slimgraph/remote/list_server.h"
#include "slimgraph/remote/neighbours.h"
#include "slimgraph/remote/served_source.h"
#include "slimgraph/remote/standing_graph.h"

namespace slimgraph::dgemini {

class Workload {
 public:
  // The vertices first .. first + count - 1 and their lists, by direction.
  struct Segment {
    VertexId first = 0;
    VertexId count = 0;
    NodeId home = 0;
    const ListSpans* own[2] = {nullptr, nullptr};    // in this node's memory
    DelegatedLists* remote[2] = {nullptr, nullptr};  // or in a memory node's
    std::size_t needs_at = 0;                        // the place of its first word in needed_by()
    VertexId end() const { return first + count; }
    // The segment's words in a bitmap over all vertices.
    std::size_t first_word() const { return first / 64; }
    std::size_t words_end() const {
      return count == 0 ? first_word() : (std::size_t{end()} + 63) / 64;
    }
    // The bits of word `word` that stand for vertices of the segment.
    std::uint64_t bits_of(std::size_t word) const {
      const std::uint64_t begin = word * 64;
      std::uint64_t bits = ~std::uint64_t{0};
      if (first > begin) bits <<= first - begin;
      if (end() < begin + 64) bits &= (std::uint64_t{1} << (end() - begin)) - 1;
      return bits;
    }
    bool is_own() const { return !kDelegates || own[0] != nullptr; }
  };
  // Consecutive vertices of one segment. Within a segment, blocks begin and end at multiples of 64,
  // so that a word of a bitmap belongs to one block.
  struct Block {
    std::uint32_t segment;
    VertexId first;
    VertexId end;
  };

  // Collective over all nodes. A memory node must keep its workload, because compute nodes read
  // lists from it. `announce` may add the caller's own memory to the plan. It is an error if the
  // plan does not fit.
  static Result<std::unique_ptr<Workload>> Load(Cluster& cluster, const GraphSource& file,
                                                const WorkloadNeeds& needs,
                                                const std::function<void(MemoryPlan&)>& announce);

  VertexId vertices() const { return vertices_; }
  EdgeOffset arcs() const { return arcs_; }
  // The length of the longest out list of the share.
  EdgeOffset longest() const { return longest_; }
  std::size_t weight_bytes() const { return weight_bytes_; }
  NodeId self() const { return self_; }
  NodeId nodes() const { return nodes_; }
  NodeId compute() const { return compute_; }
  std::uint32_t threads() const { return threads_; }
  const CacheOptions& cache() const { return cache_; }
  bool directed() const { return directed_; }
  // The direction of in lists. In an undirected graph these are the out lists.
  Direction in() const { return in_; }

  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<Block>& own_blocks() const { return own_blocks_; }
  const std::vector<Block>& remote_blocks() const { return remote_blocks_; }

  // The compute node whose share contains `v`.
  NodeId worker(VertexId v) const { return slots_[slot(v)].worker; }
  bool mine(VertexId v) const { return worker(v) == self_; }
  const Segment& segment_of(VertexId v) const { return segments_[segment_index(v)]; }
  std::uint32_t segment_index(VertexId v) const {
    return segments_.size() == 1 ? 0 : slots_[slot(v)].segment;
  }

  // On memory nodes: answers requests for lists until `wait` returns, which must wait for the
  // compute nodes. Compute nodes may walk lists only during that time.
  Status ServeWhile(const std::function<Status()>& wait);
  // On compute nodes: receives the answers; null if memory nodes do not serve requests.
  ListAnswers* answers() { return answers_.get(); }

  // When the edge cache takes lists. While no thread reads any.
  void SetAdmission(Admission admission);
  // The bytes for which the edge cache still has room.
  std::uint64_t cache_bytes_left() const { return cache_budget_->left(); }

  // If memory nodes reduce: the exchange of all nodes; else null.
  Exchange* reductions() const { return reductions_.get(); }
  // On memory nodes: the lists of each of its slots, and the code of their vertices.
  struct ServedSlot {
    NodeId worker;
    VertexPart part;
    const ServedLists* lists;
    VertexId first;  // of these lists, which may begin before the part
  };
  std::vector<ServedSlot> served_slots(Direction direction) const;

  // The range of the weights in this node's own memory, if weights are loaded; also on a memory
  // node. It is known if the graph stands in a pool; otherwise this examines all these weights.
  WeightRange OwnWeightRange(WeightType type) const;

  // Prefetches the offsets of v's list. `v` must be of the share.
  void PrefetchOffsets(VertexId v, Direction direction) const;
  // The length of an out list of the share; the average length if this node does not know it.
  EdgeOffset Degree(VertexId v) const;
  // Calls visit(v, length) for all out lists of the share that are in memory nodes' memory.
  template <typename Visit>
  Status VisitRemoteDegrees(Endpoint& endpoint, Visit visit) const;

  // Who has lists. Number p < compute: compute node p's whole share. If memory nodes reduce, number
  // m of a memory node: its own lists, and OwnListsOf(p): those in compute node p's own memory.
  using Reader = std::size_t;
  Reader OwnListsOf(NodeId compute_node) const { return std::size_t{nodes_} + compute_node; }
  // A bitmap of the segment's vertices that are in the reader's lists of `direction`, from the word
  // segment.first_word() on. It exists for other nodes only.
  const std::uint64_t* needed_by(Reader reader, Direction direction, const Segment& segment) const {
    return needed_[static_cast<int>(direction)].data() + reader * needs_words_ + segment.needs_at;
  }
  // A bitmap of all vertices in the share's out lists; empty with a single compute node.
  const std::vector<std::uint64_t>& referenced() const { return referenced_; }

  // The arcs of the share's lists in memory nodes, and the bytes of the caches that index them.
  std::uint64_t remote_arcs() const;
  std::uint64_t index_bytes() const;

 private:
  struct Slot {
    NodeId worker;
    NodeId home;
    std::uint32_t segment;  // the index in segments_, if the slot is of this share
  };
  Workload() = default;
  // This node's lists of one direction, by slot of the node. A compute node has plain lists that
  // only it reads. A memory node has coded lists in regions. All nodes create these regions, so
  // that region ids are the same everywhere.
  struct StoredLists {
    std::vector<PrivateLists> own;
    std::vector<ServedLists> served;
  };
  // At the homes of the vertices: for each reader, a bitmap of this node's vertices that are in its
  // lists of a direction. Otherwise: bitmaps of all vertices in this node's lists, one of all lists
  // or one of each slot's (WorkDivision::marks_of). A compute node adds those of its memory nodes;
  // if memory nodes reduce, `own` keeps those of its own lists.
  struct Marks {
    RegionId region = 0;
    std::span<std::uint64_t> words;
    bool wanted = false;
    bool at_homes = false;
    RegionId own_region = 0;
    std::span<std::uint64_t> own;
  };
  // The words of a bitmap that contain a node's part.
  struct Words {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  std::size_t BitmapWords() const { return (std::size_t{vertices_} + 63) / 64; }
  bool HasSlotsOfOthers(NodeId home) const;
  std::size_t slot(VertexId v) const { return slot_of_[v >> shift_]; }
  void FindSlots();
  void CutBlocks();
  std::vector<Direction> LoadedDirections(const WorkloadNeeds& needs) const;
  Status ShareMarks(Cluster& cluster, const WorkloadNeeds& needs, bool summarized);
  Result<WorkloadSizes> Divide(Cluster& cluster, const GraphSource& file,
                               const WorkloadNeeds& needs);
  void MakeServer(Cluster& cluster, const WorkloadNeeds& needs);
  Status LoadLists(Cluster& cluster, const GraphSource& file, const WorkloadNeeds& needs,
                   const WorkloadSizes& sizes);
  // The same for a graph that stands in a pool (standing.cc).
  Result<WorkloadSizes> DivideStanding(Cluster& cluster, const StandingGraph& graph,
                                       const WorkloadNeeds& needs);
  Status ServeStanding(Cluster& cluster, const StandingGraph& graph, const WorkloadNeeds& needs);
  // The lists of a memory node from `begin` on.
  ListsInPlace InPlace(const Fabric& fabric, NodeId home, Direction direction,
                       const PartBegin& begin) const;
  Status Delegate(Cluster& cluster, const WorkloadNeeds& needs, const WorkloadSizes& sizes);
  Status FindNeedsAtReaders(Cluster& cluster, Direction direction);
  Status ReadMarksOfReaders(Endpoint& endpoint, Direction direction);
  Status FindNeedsAtHomes(Cluster& cluster, Direction direction, bool referenced);
  // Begins to read marks of another node, or of this one.
  bool IsOther(Reader reader) const { return reader != self_ && reader != OwnListsOf(self_); }
  static void StartReading(Endpoint& endpoint, NodeId from, RegionId region, std::size_t first_word,
                           std::span<std::uint64_t> into);
  static Status AwaitReads(Endpoint& endpoint);
  std::span<std::uint64_t> NeedsOf(Reader reader, Direction direction, const Segment& segment);
  void DropBitsOfOthers(Direction direction);
  Words WordsOf(NodeId node) const;
  ListObserver MakeMarkingObserver(Direction direction, std::size_t threads) const;
  // Marks own vertices of a graph in a pool, where such marks are wanted.
  Status MarkAtHomes(const StandingGraph& graph, std::size_t threads) const;
  // The same by the summary of their out lists (remote/neighbour_summary.h): who works for a
  // vertex's out-neighbours has the vertex in the lists over which they pull. Returns a bitmap of
  // those of which the summary leaves something open, so that their lists have to be observed;
  // empty if there are none.
  std::vector<std::uint64_t> MarkBySummary(const StandingGraph& graph, std::size_t threads) const;
  template <typename Nodes>
  Nodes ReferencingNodes(VertexId v, std::span<const VertexId> list, const Nodes& all) const;
  template <typename Nodes>
  ListObserver MakeNodeMarkingObserver(const Marks& marks, std::size_t threads) const;

  VertexId vertices_ = 0;
  EdgeOffset arcs_ = 0;
  EdgeOffset longest_ = 0;
  std::size_t weight_bytes_ = 0;
  Direction in_ = Direction::kOut;
  bool directed_ = false;
  bool stands_ = false;  // the graph stands in a pool: a memory node's slots share their lists
  NodeId self_ = 0;
  NodeId nodes_ = 0;
  NodeId compute_ = 0;
  Reader readers_ = 0;
  std::uint32_t threads_ = 1;
  CacheOptions cache_;
  std::optional<ChunkPartition> partition_;
  WorkDivision division_;
  StoredLists stored_[2];  // by direction
  Marks marks_[2];         // by direction
  std::unique_ptr<ListServer> server_;
  std::unique_ptr<ListAnswers> answers_;
  std::unique_ptr<Exchange> reductions_;
  WeightRange standing_weights_;
  std::unique_ptr<CacheBudget> cache_budget_;
  std::vector<std::unique_ptr<DelegatedLists>> delegated_;
  std::vector<Segment> segments_;
  std::vector<Block> own_blocks_;
  std::vector<Block> remote_blocks_;
  std::vector<Slot> slots_;
  std::vector<std::uint16_t> slot_of_;  // by v >> shift_
  std::uint32_t shift_ = 0;
  std::vector<std::uint64_t> referenced_;
  std::size_t needs_words_ = 0;           // of all segments
  std::vector<std::uint64_t> needed_[2];  // by direction; by reader and segment
};

// It must be inlined: GCC takes the function for one without effects, and drops a call of it.
[[gnu::always_inline]] inline void Workload::PrefetchOffsets(VertexId v,
                                                             Direction direction) const {
  const Segment& segment = segment_of(v);
  const VertexId local = v - segment.first;
  const int d = static_cast<int>(direction);
  if (segment.is_own()) {
    __builtin_prefetch(&segment.own[d]->offsets[local]);
  } else {
    segment.remote[d]->PrefetchIndex(local);
  }
}

inline EdgeOffset Workload::Degree(VertexId v) const {
  const Segment& segment = segment_of(v);
  const VertexId local = v - segment.first;
  if (segment.is_own()) {
    const auto& offsets = segment.own[0]->offsets;
    return offsets[local + std::size_t{1}] - offsets[local];
  }
  return segment.remote[0]->ExpectedLength(local);
}

template <typename Visit>
Status Workload::VisitRemoteDegrees(Endpoint& endpoint, Visit visit) const {
  for (const Segment& segment : segments_) {
    if (segment.is_own()) continue;
    SLIM_TRY(segment.remote[0]->VisitLengths(
        endpoint, [&](VertexId i, EdgeOffset length) { visit(segment.first + i, length); }));
  }
  return {};
}

}  // namespace slimgraph::dgemini
