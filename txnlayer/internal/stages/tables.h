// The tables of a job's transactions, as one node sees them: in the shape of the protocol's tuples,
// with the view of which node holds which partition.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "txnlayer/internal/stages/protocol.h"
#include "txnlayer/internal/store/table.h"
#include "txnlayer/internal/store/view.h"

namespace slimgraph::txn {

class Tables {
 public:
  // Each partition is held by `replicas` nodes. `cluster` and `protocol` must outlive this object.
  // `most_bytes`: what the tables of a node may take; 0: what the node has.
  Tables(Cluster& cluster, const Protocol& protocol, std::uint32_t replicas,
         std::uint64_t most_bytes);

  // Collective, before the first table, if tuples have read timestamps: replaced versions are kept
  // (OldVersions::Make).
  Status KeepVersions(std::uint32_t threads, std::uint64_t room_bytes);
  const OldVersions* old_versions() const { return old_versions_.get(); }  // null: none are kept

  // Collective: all nodes add the same tables in the same order.
  Result<Table*> Add(const TableSpec& spec);
  Table& operator[](TableId id) const { return *tables_[id]; }
  TableId size() const { return static_cast<TableId>(tables_.size()); }
  auto begin() const { return tables_.begin(); }
  auto end() const { return tables_.end(); }

  // --- room (table.h)
  // How many tuples more each part of this table may have, by the memory that this node has left.
  std::uint64_t RoomLeft(const Table& table) const;
  // Gives a table of this node that much room, if there is memory left for it.
  bool MakeRoom(Table& table, std::uint64_t tuples) const;
  std::uint64_t memory_left() const;  // of this node
  // How many bytes of any kind of tuples it makes sense to reserve on this node. Over a transport
  // whose memory is taken when it is reserved: 0.
  std::uint64_t most_bytes() const { return most_bytes_; }

  Cluster& cluster() const { return cluster_; }
  NodeId self() const { return cluster_.self(); }
  const Protocol& protocol() const { return protocol_; }
  std::uint32_t replicas() const { return replicas_; }
  const View& view() const { return view_; }
  // See View::Lose().
  bool Lose(NodeId node) { return view_.Lose(node); }

  // Visits all tuples of all tables for which this node is the primary, when nothing runs.
  void ForEachTuple(const std::function<void(Table&, std::byte*)>& visit) const;
  void ForEachTuple(Table& table, const std::function<void(std::byte*)>& visit) const;
  // The same, with the latest record of each tuple; null where there is none.
  void ForEachRecord(Table& table, const std::function<void(Key, const std::byte*)>& visit) const;
  // Stores a version of a tuple in a part of this node, unless a later version is there. Only when
  // nothing runs on the tuple. False: the table is full.
  bool PutVersion(Table& table, Key key, Rank rank, const std::byte* version) const;

 private:
  Cluster& cluster_;
  const Protocol& protocol_;
  const std::uint32_t replicas_;
  const std::size_t nodes_here_;
  std::uint64_t most_bytes_ = 0;
  View view_;
  std::unique_ptr<OldVersions> old_versions_;
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace slimgraph::txn
