// A transactional graph as it was at one time, to be read by engines that know nothing of
// transactions, while these go on. Open this header first, then snapshot_gather.h.
//
// The time is one at which no transaction is under way (Engine::Pause), later than all that have
// committed and earlier than all that will. Each node then brings the lists of its part as they
// were at that time into memory of their own; meanwhile versions that the snapshot sees are kept.
// From then on it needs nothing of the graph.
//
// Why it is one state, under every protocol: what has committed before the pause is installed, so
// the snapshot has all of it, and of what begins afterwards nothing, for its commits are later.
// Nothing that it has follows from something that it has not:
//  - NOWAIT, WAITDIE, OCC, CALVIN: whatever begins after the pause comes later in the serial order,
//    which is that of real time.
//  - SUNDIAL: logical times may go back, but tuples have one version: whoever begins after the
//    pause reads what those before have written, and overwrites nothing that they have not read.
//  - MVCC: a transaction with an old timestamp could read an old version, and so come before one
//    that the snapshot has. So all clocks of timestamps are pulled past the latest during the
//    pause.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/graph_source.h"
#include "slimgraph/graph/list_writer.h"
#include "txnlayer/graph/snapshot_gather.h"

namespace slimgraph::txn {

// The memory of one snapshot after the other, for pages that are there are written far sooner than
// fresh ones. It is used by one at a time.
class SnapshotRoom {
 public:
  // `cluster` is of its own, as that of transactions is in use, and outlives it.
  explicit SnapshotRoom(Cluster& cluster) : cluster_(cluster) {}

  Cluster& cluster() { return cluster_; }
  // Collective: so many bytes on this node, that others can read; with whatever is in them.
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
  // Collective, from a thread of its own on every node. `room` outlives the snapshot.
  static Result<std::unique_ptr<Snapshot>> Take(SnapshotRoom& room, TransactionalGraph& graph);

  GraphTime time() const { return time_; }
  // Whether transactions were running; their end is the last state there is.
  bool in_run() const { return in_run_; }
  // How long transactions had to wait until they could begin, on the node where it took longest;
  // how long it took to bring the lists.
  double pause_s() const { return pause_s_; }
  double gather_s() const { return gather_s_; }
  // How old it is by now, by the clock of this node.
  double StalenessSeconds() const;

  bool has(SectionKind kind) const override { return section_bytes(kind) > 0; }
  std::uint64_t section_bytes(SectionKind kind) const override;
  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const override;
  Result<OriginalIds> ReadOriginalIds() const override { return ids_; }

  // Writes it as a .slim file; local, with reads of the other nodes' memory.
  Status Export(ListWriter& writer) const;

 private:
  explicit Snapshot(SnapshotRoom& room) : room_(room), cluster_(room.cluster()) {}
  Status Gather(TransactionalGraph& graph, const PartitionHolders& holders);
  Status MergeLists(TransactionalGraph& graph, const PartitionHolders& holders,
                    const SnapshotVertices& vertices, const EdgeChanges& changes);
  // The lists of one direction: of directed graphs there are two.
  struct Lists {
    std::vector<std::uint8_t> holders;  // by vertex: the node in whose memory its list is
    std::vector<EdgeOffset> offsets;
    std::vector<EdgeOffset> held_before;  // by group of vertices and node: arcs held before it
  };
  const Lists& lists_of(Direction direction) const {
    return lists_[static_cast<std::size_t>(direction)];
  }
  // Whose offsets, neighbours or weights that section has; null: there is none.
  const Lists* ListsIn(SectionKind kind) const;
  Status FindOffsets(std::span<const std::uint32_t> own_lengths, std::vector<EdgeOffset>& held,
                     Lists& lists) const;
  // What a region has of a range of arcs, `each` bytes for each.
  Status ReadArcs(const Lists& lists, RegionId region, std::size_t each, EdgeOffset first,
                  MutableBytes into) const;

  SnapshotRoom& room_;
  Cluster& cluster_;
  GraphTime time_ = 0;
  bool in_run_ = false;
  double pause_s_ = 0;
  double gather_s_ = 0;
  OriginalIds ids_;
  Lists lists_[2];       // by direction
  RegionId region_ = 0;  // where they all lie
  RegionId weights_region_ = 0;
  mutable std::mutex reading_;  // of the endpoint
};

}  // namespace slimgraph::txn
