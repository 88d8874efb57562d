// A store's graph on one node of a job: open for transactions of threads outside the engine, until
// it is closed. Every node of the job has one. Commits are durable in a folder of logs;
// apply_commits.h makes them part of the store afterwards.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/sync.h"
#include "txnlayer/disk/store.h"
#include "txnlayer/graph/fold.h"
#include "txnlayer/graph/lane.h"
#include "txnlayer/graph/snapshot.h"
#include "txnlayer/protocol/make_protocol.h"

namespace slimgraph::txn {

struct HostOptions {
  std::string store;
  std::string logs;      // the folder of logs
  std::string protocol;  // a name of protocol/make_protocol.h
  ProtocolOptions concurrency = {};
  std::uint32_t lanes = 1;   // of each compute node: how many transactions run at the same time
  std::uint64_t room = 0;    // how many edges can be added or changed between two folds; 0: half
                             // of the store's edges, at least a million
  double fold_share = 0.25;  // see GraphOptions
};

// What every node must be able to do before Start(): the image of the store.
class StoreImage {
 public:
  static Result<StoreImage> Read(const std::string& store);

 private:
  friend class GraphHost;
  DiskBase base_;
  GraphShape shape_;
  std::vector<PropertyIndex> indexes_;
  LogSubject subject_;
};

class GraphHost {
 public:
  // Collective over all nodes of the job, which must outlive the host.
  static Result<std::unique_ptr<GraphHost>> Start(Job& job, const ClusterOptions& cluster,
                                                  const StoreImage& image,
                                                  const HostOptions& options);
  // Leaves without waiting, unless it was stopped. No thread may use a lane any more.
  ~GraphHost();

  const GraphShape& shape() const { return graph_->shape(); }
  const VertexIndexes& indexes() const { return graph_->indexes(); }
  // Usable on compute nodes, until Stop().
  std::vector<std::unique_ptr<Lane>>& lanes() { return lanes_; }

  // Collective over all nodes, in one thread of each: the graph as it is now.
  Result<std::unique_ptr<Snapshot>> TakeSnapshot(SnapshotMemory& room) {
    return Snapshot::Take(room, *graph_);
  }
  // Why the run has failed, if it has.
  Status CheckRuns();
  // Ends the run with an error, on all nodes. Operations on lanes fail then.
  void GiveUp();
  // Collective over all nodes, when no lane is in use. All commits are in the logs afterwards.
  Status Stop();

 private:
  GraphHost() = default;
  Status Make(Job& job, const ClusterOptions& cluster, const StoreImage& image,
              const HostOptions& options);
  void Work();
  void FailLanes(const Error& error);

  std::unique_ptr<Protocol> protocol_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<TransactionalGraph> graph_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::atomic<bool>> called_;  // by thread: one of its lanes has been woken
  Thread thread_;                          // of the run
  Mutex failing_;
  std::optional<Error> failure_;  // why lanes fail; under the mutex
  Status ran_;
  bool stopped_ = false;
};

}  // namespace slimgraph::txn
