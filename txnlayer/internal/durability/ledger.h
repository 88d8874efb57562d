// Commits in the memory of other nodes. A *ledger* is a file that is memory of a node, its keeper.
// Threads of other nodes write the records of their commits into it, one-sided. So compute nodes
// wait for no disk of their own. README.md explains why nothing is lost.
//
// The file: a head; for each writing thread, how far its ring was drained; and the rings.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/shared_file.h"
#include "slimgraph/cluster/cluster.h"
#include "txnlayer/internal/durability/ledger_options.h"
#include "txnlayer/internal/durability/ledger_ring.h"

namespace slimgraph::txn {

class Ledger {
 public:
  // Collective. `path`: of this node's ledger, if it keeps one. `fail` ends the job when the ledger
  // cannot be synced.
  static Result<std::unique_ptr<Ledger>> Begin(Cluster& cluster, const std::string& path,
                                               std::uint64_t run, const LedgerOptions& options,
                                               std::function<void(const Error&)> fail);
  ~Ledger();

  // The node that keeps the commits of a compute node: a memory node, or else the next node.
  static NodeId KeeperOf(const Topology& topology, NodeId node);

  const LedgerRing& shape() const { return shape_; }
  // Whether this node keeps one.
  bool kept_here() const { return file_ != nullptr; }
  RegionId region() const { return region_.id; }

  // --- for the writers
  struct Place {
    NodeId keeper = 0;
    std::uint32_t ring = 0;
    std::uint64_t at = 0;  // of the ring in the region
  };
  Place PlaceOf(std::uint32_t thread) const;
  // Whether a read behind the writes makes them durable. Otherwise the keeper syncs the file.
  bool by_read() const { return by_read_; }
  // Whether all ledgers are on persistent memory.
  bool persistent() const { return persistent_; }

  // --- for the keeper. A ring's functions are called by one thread at a time.
  // What is written by now is durable when synced() reaches the returned number.
  std::uint64_t AskSync() { return sync_ != nullptr ? sync_->Ask() : 0; }
  std::uint64_t synced() const { return sync_ != nullptr ? sync_->synced() : 0; }
  // Visits the records behind those that were visited before, up to that position, where a record
  // ends. False: one is damaged, and the job ends.
  using Visit = std::function<void(std::uint64_t generation, const Record&)>;
  bool Drain(std::uint32_t ring, std::uint64_t up_to, const Visit& visit);
  // The same for all rings, to the end of what is whole.
  void DrainAll(const Visit& visit);
  // Readers of the file need nothing before that position.
  void SetDrained(std::uint32_t ring, std::uint64_t position);

  // All that was visited is durable elsewhere.
  Status SetAllDrained();

  // The records of that generation in a ledger's file, each preceded by its length, but not those
  // that are known already.
  struct Found {
    std::vector<std::uint64_t> words;
    std::uint64_t records = 0;
  };
  static Result<Found> Read(const std::string& path, std::uint64_t generation,
                            const std::function<bool(std::span<const std::uint64_t>)>& known);

 private:
  explicit Ledger(Cluster& cluster) : cluster_(cluster), shape_(LedgerRing::kLeastWords, 0, true) {}
  std::byte* RingMemory(std::uint32_t ring) const;
  void DrainWhole(std::uint32_t ring, std::uint64_t up_to, const Visit& visit);

  Cluster& cluster_;
  LedgerRing shape_;
  std::function<void(const Error&)> fail_;
  std::shared_ptr<SharedFile> file_;  // null: this node keeps no ledger
  SharedRegion region_;
  std::uint32_t rings_ = 0;
  std::uint64_t run_ = 0;
  bool by_read_ = false;
  bool persistent_ = false;
  std::vector<std::uint64_t> positions_;  // by ring: behind what was visited
  FileSync* sync_ = nullptr;  // null: nothing is synced, as the memory is as good as the disk
};

}  // namespace slimgraph::txn
