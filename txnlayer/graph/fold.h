// Folds what transactions have changed into the base, while they run: so that changes take little
// memory, and reads find most of what there is in the sorted lists. README.md has the argument.
//
// Between two moments without transactions (moment.h) each node writes the next lists of its
// partition beside those that are read, as they were at the first moment. At the second they take
// their place, and of the changes stays what has come since. Copies are folded as their partitions
// are. A fold that a node's death comes into the way of is given up, on all nodes that are left or
// on none (Job::AllHaveCome), and begun anew.
#pragma once

#include <memory>
#include <thread>

#include "slimgraph/cluster/cluster.h"
#include "txnlayer/graph/snapshot_gather.h"

namespace slimgraph::txn {

class Folder : public KeptAside {
 public:
  // Of a graph that is complete, and outlives it.
  explicit Folder(TransactionalGraph& graph)
      : graph_(graph), places_of_store_(graph.base().vertices()) {}
  ~Folder() override;

  // Around a run: from Start, a thread folds when changes have become many.
  void Start();
  // After the run, which is over on this node; waits for all others.
  Status Finish();

  // In the last run.
  struct Figures {
    std::uint64_t folds = 0;
    double seconds = 0;          // of all together
    double longest_pause_s = 0;  // until transactions could begin again
  };
  const Figures& figures() const { return figures_; }

  // --- fold_log.cc: what has been folded, in logs on disk.
  Status TakeBack(std::uint64_t kind, std::span<const std::uint64_t> words) override;
  Status TakenBack() override;
  Status WriteAnew(const Write& write) override;

 private:
  Status Work();
  Status WorkAmong(Job& job);
  Result<bool> ChangesAreMany(bool& over);
  Status Fold();
  Status FoldInTurn(bool& fits, bool& switched);
  Status TakeOver(GraphTime at, BaseGraph::Next next, bool& switched);
  Status WriteAside(const EdgeChanges& changes, const BaseGraph::Next& next);
  void ClearSpare();
  Result<EdgeChanges> TakeChanges(const PartitionHolders& holders, GraphTime at,
                                  const BaseGraph::Next& next);
  // Writes the lists of this node, and completes `next`; false: there is no room for them.
  Result<bool> WriteNext(Cluster& cluster, const PartitionHolders& holders,
                         const EdgeChanges& changes, BaseGraph::Next& next);
  std::uint64_t Sum(std::uint64_t (*of)(const Table&, Rank)) const;

  // Of all nodes, since the store was loaded.
  struct Folded {
    bool any = false;
    std::vector<VertexName> places;  // behind those of the store
    std::vector<VertexName> dead;
    EdgeChanges changes;  // of the lists that this node holds
  };

  TransactionalGraph& graph_;
  const VertexId places_of_store_;
  Folded recovered_;
  std::unique_ptr<Cluster> cluster_;  // of those that live
  RegionId outbox_ = 0;
  bool full_ = false;             // the base has grown as far as it can
  std::uint64_t left_bytes_ = 0;  // of what the tables held, and hold
  Figures figures_;
  std::thread thread_;
  Status done_;
};

// When nothing runs: what this node's tables and copies have that the next base, as of that time,
// does not say. What vertices carry stays in their table, and edges of vertices that have no place
// there.
class Residue {
 public:
  // With the base as it was.
  Residue(TransactionalGraph& graph, GraphTime at, const BaseGraph::Next& next);
  // How much of it another fold would leave as well, in tuples at most.
  std::uint64_t stays() const { return unplaced_ + odd_.size() + staying_vertices_; }
  // With the base as it has become: what the tables are to hold instead.
  Status Make();
  // Those of which this node tells in its log, as records of it, each behind its length.
  std::uint64_t AddRecords(std::vector<std::uint64_t>& words) const;
  // The tables hold this, and nothing else.
  Status PutBack();

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
  void KeepVertices();
  Status LoadBlocks();
  void TakeBlock(VertexName vertex, const EdgeBlock& block, GraphTime at,
                 const BaseGraph::Next& next);
  Status PutBlock(VertexName vertex, std::uint32_t number, unsigned depth, BlockKind kind,
                  std::span<const Entry> entries);

  TransactionalGraph& graph_;
  std::vector<Entry> entries_;
  std::vector<std::byte> properties_;
  std::uint64_t unplaced_ = 0;   // of the entries
  std::vector<VertexName> odd_;  // that are there and not in the base, or the other way round
  std::uint64_t staying_vertices_ = 0;
  std::vector<Record> vertices_;  // these, where there are logs on disk
  std::vector<Record> blocks_;
};

// Whether an edge can be in those lists.
inline bool HasPlaces(const BaseGraph::Next& next, VertexName one, VertexName other) {
  return next.ids.Find(one).has_value() && next.ids.Find(other).has_value();
}

}  // namespace slimgraph::txn
