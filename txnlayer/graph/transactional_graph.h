// A graph in the memory of all nodes that transactions read and update. Open this header first,
// then graph_transaction.h; README.md says how it lies in memory, and why it is consistent.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "txnlayer/engine.h"
#include "txnlayer/graph/base_graph.h"
#include "txnlayer/graph/edge_block.h"
#include "txnlayer/graph/hybrid_clock.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {

struct GraphOptions {
  GraphShape shape = {};
  // How many vertices and edges transactions may add or change, for which memory is taken.
  std::uint64_t room_vertices = 1 << 12;
  std::uint64_t room_edges = 1 << 16;
  // How often a transaction is tried before its conflict is reported.
  std::uint32_t most_tries = 1000;
  // Whether transactions note what they have changed.
  bool journal = false;
  // What they change is folded into the base while they run, when it takes more memory than this
  // share of what the base takes; 0: it is not. Of graphs without logs on disk.
  double fold_share = 0;
};

class Folder;

class TransactionalGraph {
 public:
  // Collective. `engine` outlives the graph, and has room for two more tables.
  static Result<std::unique_ptr<TransactionalGraph>> Make(Engine& engine, const BaseSource& source,
                                                          const GraphOptions& options);
  ~TransactionalGraph();

  Engine& engine() { return engine_; }
  const GraphOptions& options() const { return options_; }
  const GraphShape& shape() const { return options_.shape; }
  const BaseGraph& base() const { return *base_; }
  BaseGraph& base() { return *base_; }
  Table& vertices() { return *vertices_; }
  Table& blocks() { return *blocks_; }
  HybridClock& clock() { return clock_; }
  // The time of the snapshot that is being read; kTimeLast: there is none. What it sees stays: the
  // same on all nodes while transactions run.
  GraphTime pinned() const { return pinned_.load(std::memory_order_relaxed); }
  void Pin(GraphTime time) { pinned_ = time; }
  void Unpin() { pinned_ = kTimeLast; }
  std::mutex& turn() { return turn_; }  // moment.h
  // Null: nothing is folded.
  Folder* folder() { return folder_.get(); }
  // What the base takes on all nodes if all vertices and edges carry something, in bytes.
  std::uint64_t BaseBytes() const;
  // Transactions of this node have written so many edges more, each on one side.
  void CountWritten(std::uint64_t edges) { written_.fetch_add(edges, std::memory_order_relaxed); }
  std::uint64_t TakeWritten() { return written_.exchange(0); }
  std::uint64_t written() const { return written_; }

  // What "which record" means to a person: "the edges of vertex 17".
  std::string Describe(const Table& table, Key key) const;

  // Collective, when nothing runs: every edge is on both sides or on none, and counted; what has
  // been deleted has no edges. How many vertices and edges there are then.
  struct Census {
    std::uint64_t vertices = 0;
    std::uint64_t edges = 0;
  };
  Result<Census> TakeCensus();

 private:
  TransactionalGraph(Engine& engine, const GraphOptions& options);

  Engine& engine_;
  GraphOptions options_;
  std::unique_ptr<BaseGraph> base_;
  Table* vertices_ = nullptr;
  Table* blocks_ = nullptr;
  HybridClock clock_;
  std::atomic<GraphTime> pinned_{kTimeLast};
  std::atomic<std::uint64_t> written_{0};
  std::mutex turn_;
  std::unique_ptr<Folder> folder_;
};

// What a block's record says, or the lack of one.
enum class BlockState : std::uint8_t { kOpen, kDead, kSplit, kNone };

// A vertex in the tree of its blocks.
struct VertexPlace {
  VertexName name = 0;
  std::optional<BaseGraph::Vertex> base = {};
  unsigned first_depth = 0;  // of its blocks

  VertexPlace() = default;
  VertexPlace(const BaseGraph& graph, VertexName vertex)
      : name(vertex), base(graph.Find(vertex)), first_depth(base ? FirstDepth(base->length) : 0) {}
  EdgeOffset base_length() const { return base ? base->length : 0; }

  BlockState StateOf(unsigned depth, bool exists, const EdgeBlock& block) const {
    if (exists) {
      const BlockKind kind = block.kind();
      return kind == BlockKind::kSplit  ? BlockState::kSplit
             : kind == BlockKind::kOpen ? BlockState::kOpen
                                        : BlockState::kDead;
    }
    if (depth < first_depth) return BlockState::kSplit;
    if (depth > first_depth) return BlockState::kNone;
    return base ? BlockState::kOpen : BlockState::kDead;
  }
};

}  // namespace slimgraph::txn
