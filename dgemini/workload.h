// What a compute node works on: its own part of the graph and those of its memory nodes, as one
// share of segments. Nothing above this header knows which of them lie in its own memory.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "dgemini/vertex_array.h"
#include "dgemini/workload_plan.h"
#include "slimgraph/graph/own_lists.h"
#include "slimgraph/graph/shared_graph.h"
#include "slimgraph/remote/delegated_lists.h"
#include "slimgraph/remote/list_server.h"
#include "slimgraph/remote/neighbours.h"
#include "slimgraph/remote/served_source.h"

namespace slimgraph {

class Workload {
 public:
  // The vertices first .. first + count - 1 and their lists, by direction.
  struct Segment {
    VertexId first = 0;
    VertexId count = 0;
    const ListSpans* own[2] = {nullptr, nullptr};    // in this node's memory
    DelegatedLists* remote[2] = {nullptr, nullptr};  // or in a memory node's
    VertexId end() const { return first + count; }
    // Of bitmaps.
    std::size_t words_end() const { return (std::size_t{end()} + 63) / 64; }
    // Those of a word that are vertices of it.
    std::uint64_t bits_of(std::size_t word) const {
      const std::uint64_t begin = word * 64;
      std::uint64_t bits = ~std::uint64_t{0};
      if (first > begin) bits <<= first - begin;
      if (end() < begin + 64) bits &= (std::uint64_t{1} << (end() - begin)) - 1;
      return bits;
    }
    bool is_own() const { return !kDelegates || own[0] != nullptr; }
  };
  // Neighbouring vertices of one segment. Blocks begin and end at multiples of 64 where segments
  // do not, so that a word of a bitmap belongs to one block.
  struct Block {
    std::uint32_t segment;
    VertexId first;
    VertexId end;
  };

  // Collective over all nodes. What memory nodes keep of it serves the others.
  static Result<std::unique_ptr<Workload>> Load(
      Cluster& cluster, const GraphSource& file, const WorkloadNeeds& needs,
      const std::function<void(const MemoryPlan&)>& announce);

  VertexId vertices() const { return vertices_; }
  EdgeOffset arcs() const { return arcs_; }
  // Of the out lists of the share.
  EdgeOffset longest() const { return longest_; }
  std::size_t weight_bytes() const { return weight_bytes_; }
  // In lists of an undirected graph are its out lists.
  Direction in() const { return in_; }

  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<Block>& own_blocks() const { return own_blocks_; }
  const std::vector<Block>& remote_blocks() const { return remote_blocks_; }

  // The compute node whose share `v` is in.
  NodeId worker(VertexId v) const { return slots_[slot(v)].worker; }
  bool mine(VertexId v) const { return worker(v) == self_; }
  const Segment& segment_of(VertexId v) const { return segments_[segment_index(v)]; }
  std::uint32_t segment_index(VertexId v) const {
    return segments_.size() == 1 ? 0 : slots_[slot(v)].segment;
  }

  // On memory nodes: answers those who ask for lists while `wait`, which waits for what the compute
  // nodes do, goes on. These walk lists at no other time.
  Status ServeWhile(const std::function<Status()>& wait);
  // On compute nodes: takes the answers; null where memory nodes answer nothing.
  ListAnswers* answers() { return answers_.get(); }

  // The weights of this very node's own lists, by socket; also on a memory node.
  std::vector<Bytes> own_weights() const;

  // Where a list of the share lies will soon be looked for.
  void AskForPlace(VertexId v, Direction direction) const;
  // The length of an out list of the share, where it is at hand; else what lists have on average.
  EdgeOffset Degree(VertexId v) const;
  // visit(v, length) for all out lists of the share that are in memory nodes' memory.
  template <typename Visit>
  Status VisitRemoteDegrees(Endpoint& endpoint, Visit visit) const;

  // A bitmap: which vertices of this share does `peer` meet in its lists of `direction`?
  const VertexArray<std::uint64_t>& needed_by(NodeId peer, Direction direction) const {
    return needed_[static_cast<int>(direction)][peer];
  }
  // A bitmap of all that this share meets in its out lists; empty on a single node.
  const std::vector<std::uint64_t>& met() const { return met_; }

  // Of all lists at memory nodes, and what is kept of them besides the lists.
  std::uint64_t remote_arcs() const;
  std::uint64_t index_bytes() const;

 private:
  struct Slot {
    NodeId worker;
    std::uint32_t segment;  // of this share
  };
  Workload() = default;
  // What of one direction this node keeps, by socket: its own lists as a compute node, which nobody
  // else reads; coded ones as a memory node, whose regions exist on all nodes, so that their
  // numbers are the same.
  struct Kept {
    std::vector<OwnLists> own;
    std::vector<ServedLists> served;
  };
  // Of a directed graph a bitmap of the vertices that this node's lists of a direction lead to; of
  // an undirected one, whose lists tell both, a bitmap of this node's vertices for each compute
  // node: which of them it meets in its lists.
  struct Marks {
    RegionId region = 0;
    std::span<std::uint64_t> words;
    bool wanted = false;
  };
  // The words of a bitmap that a node's part has bits in.
  struct Words {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  std::size_t slot(VertexId v) const { return slot_of_[v >> shift_]; }
  void FindSlots(const Topology& topology);
  void CutBlocks();
  std::vector<Direction> LoadedDirections(const WorkloadNeeds& needs) const;
  Status ShareMarks(Cluster& cluster, const WorkloadNeeds& needs);
  Status LoadLists(Cluster& cluster, const GraphSource& file, const WorkloadNeeds& needs,
                   const WorkloadSizes& sizes);
  Status Delegate(Cluster& cluster, const WorkloadNeeds& needs, const WorkloadSizes& sizes);
  Status FindNeeds(Cluster& cluster, Direction direction);
  Status FindNeedsByMeeting(Cluster& cluster, bool met);
  Status ReadNeeds(Cluster& cluster, NodeId from, RegionId region, std::size_t first_word,
                   std::span<std::uint64_t> into);
  Words WordsOf(NodeId node) const;
  ListWatch MarkingWatch(Direction direction, NodeId compute, std::size_t threads) const;
  template <typename Mark>
  void ForEachMeeting(VertexId v, std::span<const VertexId> list, std::uint64_t all,
                      Mark mark) const;

  VertexId vertices_ = 0;
  EdgeOffset arcs_ = 0;
  EdgeOffset longest_ = 0;
  std::size_t weight_bytes_ = 0;
  Direction in_ = Direction::kOut;
  bool directed_ = false;
  NodeId self_ = 0;
  std::optional<ChunkPartition> partition_;
  Kept kept_[2];    // by direction
  Marks marks_[2];  // by direction
  std::unique_ptr<ListServer> server_;
  std::unique_ptr<ListAnswers> answers_;
  std::unique_ptr<CacheRoom> room_;
  std::vector<std::unique_ptr<DelegatedLists>> delegated_;
  std::vector<Segment> segments_;
  std::vector<Block> own_blocks_;
  std::vector<Block> remote_blocks_;
  std::vector<Slot> slots_;
  std::vector<std::uint16_t> slot_of_;  // by v >> shift_
  std::uint32_t shift_ = 0;
  std::vector<std::uint64_t> met_;
  std::vector<VertexArray<std::uint64_t>> needed_[2];  // by direction and peer
};

// Inline, or GCC takes it for a function without effects, and drops the call.
[[gnu::always_inline]] inline void Workload::AskForPlace(VertexId v, Direction direction) const {
  const Segment& segment = segment_of(v);
  const VertexId local = v - segment.first;
  const int d = static_cast<int>(direction);
  if (segment.is_own()) {
    __builtin_prefetch(&segment.own[d]->offsets[local]);
  } else {
    segment.remote[d]->AskForPlace(local);
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

}  // namespace slimgraph
