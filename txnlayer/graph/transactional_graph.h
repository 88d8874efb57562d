// A graph in the memory of all nodes that transactions read and update. Open this header first,
// then graph_transaction.h. README.md describes its layout in memory, and why it is consistent.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "slimgraph/base/sync.h"
#include "txnlayer/engine.h"
#include "txnlayer/graph/internal/base_graph.h"
#include "txnlayer/graph/internal/edge_block.h"
#include "txnlayer/graph/vertex_indexes.h"
#include "txnlayer/graph_model/hybrid_clock.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {

struct GraphOptions {
  GraphShape shape = {};
  std::vector<PropertyIndex> indexes = {};
  // How many vertices and edges transactions may add or change before the tables must grow.
  std::uint64_t room_vertices = 1 << 12;
  std::uint64_t room_edges = 1 << 16;
  // How many tries a transaction has before its conflict is reported.
  std::uint32_t most_tries = 1000;
  // Whether transactions record their changes in a journal.
  bool journal = false;
  // Changes are folded into the base when they take more memory than this fraction of the base; 0:
  // never.
  double fold_share = 0;
};

class FoldWorker;

class TransactionalGraph {
 public:
  // Collective. `engine` must outlive the graph.
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
  const VertexIndexes& indexes() const { return indexes_; }
  // Collective, when nothing runs, after records were restored from logs.
  Status RefillIndexes() { return indexes_.Fill(*this); }
  HybridClock& clock() { return clock_; }
  // The time of the snapshot or fold that is being read; kTimeLast: none. Transactions keep the
  // versions visible at that time. It is set while this node has no commit under way.
  GraphTime pinned() const { return pinned_.load(std::memory_order_relaxed); }
  void Pin(GraphTime time) { pinned_ = time; }
  void Unpin() { pinned_ = kTimeLast; }
  Mutex& turn() { return turn_; }  // internal/moments.h
  // Null: nothing is folded.
  FoldWorker* fold_worker() { return fold_worker_.get(); }
  // The bytes of the base on all nodes, if all vertices and edges had properties.
  std::uint64_t BaseBytes() const;
  // Transactions of this node have written that many more edge sides.
  void CountWritten(std::uint64_t edges) { written_.fetch_add(edges, std::memory_order_relaxed); }
  std::uint64_t TakeWritten() { return written_.exchange(0); }
  std::uint64_t written() const { return written_; }

  // Describes a record for messages: "the edges of vertex 17".
  std::string Describe(const Table& table, Key key) const;

  // Collective, while nothing runs: checks that every edge is on both sides or on none, that
  // degrees are counted correctly, that deleted vertices have no edges, and that indexes agree with
  // vertices. Returns the numbers of vertices and edges.
  struct Census {
    std::uint64_t vertices = 0;
    std::uint64_t edges = 0;
  };
  Result<Census> TakeCensus();
  // For the holder of the turn, while nothing runs: a time later than all that this node knows of.
  // A node that has died may have written times that are later than the clocks of all others. So
  // after each death, this looks at the tables.
  GraphTime LatestTime();
  // Whether LatestTime() was called after the last death of a node that `cluster` lacks.
  bool HasSeenAllDeaths(const Cluster& cluster) const;
  // Collective, while nothing runs: moves the clocks of all nodes past all times in the tables,
  // even if a clock is behind.
  Status AdvanceClocks();

 private:
  TransactionalGraph(Engine& engine, const GraphOptions& options);
  GraphTime LatestInTables() const;  // of the partitions for which this node is the primary

  Engine& engine_;
  GraphOptions options_;
  std::unique_ptr<BaseGraph> base_;
  Table* vertices_ = nullptr;
  Table* blocks_ = nullptr;
  VertexIndexes indexes_;
  HybridClock clock_;
  std::atomic<GraphTime> pinned_{kTimeLast};
  std::atomic<std::uint64_t> written_{0};
  std::size_t deaths_seen_ = 0;  // how many LatestTime() has taken into account
  Mutex turn_;
  std::unique_ptr<FoldWorker> fold_worker_;
};

// The state of a block, by its record, or by the base if it has none.
enum class BlockState : std::uint8_t { kOpen, kDead, kSplit, kNone };

// A vertex, its list in the base, and the depth at which its tree of blocks begins.
struct BlockTree {
  VertexName name = 0;
  std::optional<BaseGraph::Vertex> base = {};
  unsigned first_depth = 0;  // the depth at which its tree of blocks begins

  BlockTree() = default;
  BlockTree(const BaseGraph& graph, VertexName vertex)
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
