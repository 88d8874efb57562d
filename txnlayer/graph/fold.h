// Folds the changes of transactions into the base while transactions run. So changes take little
// memory, and most reads find their data in the sorted lists. README.md has the argument.
//
// A fold chooses a time, at a moment between commits (internal/moments.h). Then each node writes
// the next lists of its partition, as of that time, beside the current ones. At a second moment
// all transactions are stopped: the next lists replace the current ones, and only the
// changes since the first moment stay in the tables. Copies are folded like their partitions. If a
// node dies during a fold, all survivors complete the fold or all give it up (Job::AllReached); a
// fold that was given up is begun again.
#pragma once

#include <atomic>
#include <memory>

#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/cluster.h"
#include "txnlayer/graph/internal/fold_log.h"
#include "txnlayer/internal/durability/durability.h"

namespace slimgraph::txn {

class FoldWorker : public AsideOwner {
 public:
  // The graph must be complete and outlive the folder.
  explicit FoldWorker(TransactionalGraph& graph)
      : graph_(graph), store_vertices_(graph.base().vertices()) {}
  ~FoldWorker() override;

  // Call before a run. A thread then folds whenever there are many changes.
  void Start();
  // Call after the run has ended on this node. Waits for all other nodes.
  Status Finish();

  // How often the current or last run has folded. May be called during a run.
  std::uint64_t folds() const { return folds_.load(std::memory_order_relaxed); }

  // Figures of the last run.
  struct Figures {
    double seconds = 0;          // of all folds together
    double longest_pause_s = 0;  // the longest time without transactions
  };
  const Figures& figures() const { return figures_; }

  // --- fold_log.cc: which changes were folded, in logs on disk.
  Status RestoreBatch(std::uint64_t kind, std::span<const std::uint64_t> words) override;
  Status FinishRestore() override;
  Status WriteAll(const Write& write) override;

 private:
  Status Work();
  Status WorkAmong(Job& job);
  Result<bool> ShouldFold(bool& over);
  Status Fold();
  Status FoldHoldingTurn(bool& fits, bool& switched);
  Status SwitchToNext(GraphTime at, BaseGraph::Contents next, bool& switched, Status& logged);
  Status WriteAside(EdgeChanges changes, const BaseGraph::Contents& next, GraphTime at);
  void ClearSpare();
  Result<EdgeChanges> CollectChanges(const PartitionHolders& holders, GraphTime at,
                                     const BaseGraph::Contents& next);
  // Writes the lists of this node and completes `next`. False: there is no room for them.
  Result<bool> WriteNext(Cluster& cluster, const PartitionHolders& holders,
                         const EdgeChanges& changes, BaseGraph::Contents& next);
  std::uint64_t Sum(std::uint64_t (*of)(const Table&, Rank)) const;

  TransactionalGraph& graph_;
  const VertexId store_vertices_;
  // What earlier runs had folded, until WriteAll: the vertices of all nodes, and the edges of the
  // lists that this node holds.
  Folded recovered_;
  std::unique_ptr<Cluster> cluster_;  // of the live nodes
  RegionId outbox_ = 0;
  bool full_ = false;                   // the base cannot grow any more
  std::uint64_t unfoldable_bytes_ = 0;  // of the tables' contents, what folds cannot remove
  std::atomic<std::uint64_t> folds_ = 0;
  Figures figures_;
  Thread thread_;
  Status done_;
};

// The records that the tables and copies of this node must keep after a fold, because the next
// base, as of the fold's time, does not contain them. Used while no transaction runs. Vertex
// properties stay in their table, and so do edges of vertices without a dense id.
class Residue {
 public:
  // Call before the switch to the next base.
  Residue(TransactionalGraph& graph, GraphTime at, const BaseGraph::Contents& next);
  // An upper bound of the tuples that another fold would leave in the tables too.
  std::uint64_t unfoldable_tuples() const {
    return entries_without_id_ + differing_.size() + staying_vertices_;
  }
  // Call after the switch: computes the new content of the tables. Fails if they have no room for
  // it.
  Status Compute();
  // Appends the records that this node has to log, each preceded by its length. Returns their
  // number.
  std::uint64_t AppendLogRecords(std::vector<std::uint64_t>& words) const;
  // Replaces the content of the tables by the result of Compute.
  void Install();

 private:
  struct Entry {
    VertexName vertex;
    EdgeEntry entry;
    std::size_t properties;
  };
  struct Record {
    Key key;
    std::vector<std::byte> bytes;
  };
  static constexpr std::uint64_t kWord = kExistsBit | kOneWrite;
  void ResetVertices();
  Rank RankOf(const Record& block) const;
  bool Fits() const;
  void TakeBlock(VertexName vertex, const EdgeBlock& block, GraphTime at,
                 const BaseGraph::Contents& next);
  Status PutBlock(VertexName vertex, std::uint32_t number, unsigned depth, BlockKind kind,
                  std::span<const Entry> entries);

  TransactionalGraph& graph_;
  std::vector<Entry> entries_;
  std::vector<std::byte> properties_;
  std::uint64_t entries_without_id_ = 0;  // entries of edges without dense ids
  std::vector<VertexName> differing_;  // alive vertices that the base does not have, or the reverse
  std::uint64_t staying_vertices_ = 0;
  std::vector<Record> vertices_;  // the staying vertices; only with logs on disk
  std::vector<Record> blocks_;
};

// Whether the lists can have the edge: both ends have a dense id.
inline bool HaveDenseIds(const BaseGraph::Contents& next, VertexName one, VertexName other) {
  return next.ids.Find(one).has_value() && next.ids.Find(other).has_value();
}

}  // namespace slimgraph::txn
