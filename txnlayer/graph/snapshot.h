// A transactional graph as it was at one time. Engines that know nothing of transactions read it
// while transactions continue. Open this header first, then snapshot_gather.h.
//
// The snapshot's time is chosen at a moment between commits (Engine::BetweenCommits). It is later
// than the times of all commits before that moment, and earlier than those of all after it. Each
// node then merges the lists of its part, as of that time, into the snapshot's own memory.
// Meanwhile transactions keep the versions that the snapshot sees. Afterwards the snapshot needs
// nothing of the graph.
//
// Why it is one state under every protocol: at the moment, all commits before it hold locks or are
// installed. Whoever reads a record for the snapshot waits for its lock, so the snapshot has all of
// them. It has nothing of later commits, as their times are later. No transaction in the snapshot
// depends on one that is not in it. For suppose A commits after the moment, and B before it, and A
// has read what B overwrote:
//   - NOWAIT, WAITDIE, BOUNDEDWAIT, CALVIN: A keeps its lock on what it has read until it ends,
//     so B could not commit before.
//   - OCC: A validates after the moment, and finds B's write or its lock.
//   - MVCC, TO: A began after the moment, or it would have been aborted. All timestamp clocks were
//     past B's then, so A reads what B wrote.
//   - SUNDIAL: A began after the moment. It cannot read what B locks, so it reads what B wrote. As
//     logical times may go back, an A that writes nothing could otherwise also tie a later commit
//     to one before B; so it is aborted too.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/files/graph_source.h"
#include "slimgraph/files/list_writer.h"
#include "txnlayer/graph/internal/snapshot_gather.h"

namespace slimgraph::txn {

// Memory that consecutive snapshots share: writing to mapped pages is much faster than page faults
// on fresh ones. Only one snapshot may use it at a time.
class SnapshotMemory {
 public:
  // `cluster` is not that of the transactions, which is in use. It must outlive this object.
  explicit SnapshotMemory(Cluster& cluster) : cluster_(cluster) {}

  Cluster& cluster() { return cluster_; }
  // Collective: memory of that size on this node, readable by all nodes. Its content is undefined.
  Result<SharedRegion> ForLists(std::uint64_t bytes) { return AtLeast(bytes, lists_); }
  Result<SharedRegion> ForWeights(std::uint64_t bytes) { return AtLeast(bytes, weights_); }
  Result<SharedRegion> ForChanges(std::uint64_t bytes) { return AtLeast(bytes, changes_); }

 private:
  Result<SharedRegion> AtLeast(std::uint64_t bytes, std::optional<SharedRegion>& region);

  Cluster& cluster_;
  std::optional<SharedRegion> lists_;
  std::optional<SharedRegion> weights_;
  std::optional<SharedRegion> changes_;
};

class Snapshot : public GraphSource {
 public:
  // Collective, from a thread of its own on every node. `room` must outlive the snapshot.
  static Result<std::unique_ptr<Snapshot>> Take(SnapshotMemory& room, TransactionalGraph& graph);

  GraphTime time() const { return time_; }
  // Whether transactions were running. If not, the run has ended, and this is its final state.
  bool in_run() const { return in_run_; }
  // The longest time for which a node's transactions were stopped, and the time to build the lists.
  double pause_s() const { return pause_s_; }
  double gather_s() const { return gather_s_; }
  // The age of the snapshot, by the clock of this node.
  double StalenessSeconds() const;

  bool has(SectionKind kind) const override { return section_bytes(kind) > 0; }
  std::uint64_t section_bytes(SectionKind kind) const override;
  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const override;
  Result<OriginalIds> ReadOriginalIds() const override { return ids_; }

  // Writes the snapshot as a .slim file. Not collective: it reads the other nodes' memory.
  Status Export(ListWriter& writer) const;

 private:
  explicit Snapshot(SnapshotMemory& room) : room_(room), cluster_(room.cluster()) {}
  Status Gather(TransactionalGraph& graph, const PartitionHolders& holders);
  Status MergeLists(TransactionalGraph& graph, const PartitionHolders& holders,
                    const SnapshotVertices& vertices, const EdgeChanges& changes);
  // The lists of one direction. Directed graphs have two.
  struct Lists {
    std::vector<std::uint16_t> holders;  // by vertex: the node that has its list in memory
    std::vector<EdgeOffset> offsets;
    std::vector<EdgeOffset> held_before;  // by vertex group and node: arcs held before it
  };
  const Lists& lists_of(Direction direction) const {
    return lists_[static_cast<std::size_t>(direction)];
  }
  // The lists to which a section belongs; null: none.
  const Lists* ListsIn(SectionKind kind) const;
  Status FindOffsets(std::span<const std::uint32_t> own_lengths, std::vector<EdgeOffset>& held,
                     Lists& lists) const;
  // Reads a range of arcs from a region, with `each` bytes per arc.
  Status ReadArcs(const Lists& lists, RegionId region, std::size_t each, EdgeOffset first,
                  MutableBytes into) const;

  SnapshotMemory& room_;
  Cluster& cluster_;
  GraphTime time_ = 0;
  bool in_run_ = false;
  double pause_s_ = 0;
  double gather_s_ = 0;
  OriginalIds ids_;
  Lists lists_[2];       // by direction
  RegionId region_ = 0;  // the lists of both directions
  RegionId weights_region_ = 0;
  mutable Mutex reading_;  // guards the endpoint
};

}  // namespace slimgraph::txn
