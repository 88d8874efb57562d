// A store that a session has open, on one node: its engine and, on a compute node, the threads of
// its bodies. All nodes open, snapshot and close it together.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "slimgraph/session/internal/body_pool.h"
#include "slimgraph/session/internal/open_graph.h"
#include "txnlayer/graph/graph_host.h"

namespace slimgraph::internal {

struct StoreRequest {
  ClusterRequest cluster;
  char protocol[16] = {};
  bool reads_at_a_time = false;
  std::uint32_t lanes = 1;
  std::uint64_t room_edges = 0;
};

// Which store Task::kSnapshot is about; the call names the new graph.
struct SnapshotRequest {
  std::uint64_t store = 0;
};

// That this process alone may have the store open. Node 0 holds it.
class StoreClaim {
 public:
  // Makes commits of earlier sessions, which were not closed, part of the store.
  static Result<std::unique_ptr<StoreClaim>> Take(const std::string& path);
  // Makes the commits of this session part of the store.
  Status WriteBack();

 private:
  explicit StoreClaim(std::string path) : path_(std::move(path)) {}
  Status Share();
  const std::string path_;
  UniqueFd lock_;                     // against other sessions
  std::unique_ptr<txn::Store> open_;  // against updates by others
};

class OpenStore {
 public:
  // The folder inside a store that a session locks. The folder of logs is in it.
  static constexpr const char* kFolder = "/session";
  static constexpr const char* kLogs = "/session/commits";

  // Collective over all nodes.
  static Result<Refusal> Open(Job& job, const Call& call, std::unique_ptr<OpenStore>& opened);
  // Waits for the bodies under way. If it was not closed, their transactions end with errors.
  ~OpenStore();

  // On compute nodes, after Open().
  std::shared_ptr<BodyPool> StartPool(const StoreOptions& options);
  // Collective over all nodes.
  Result<Refusal> Snapshot(Job& job, std::unique_ptr<OpenGraph>& graph, bool computes);
  // Collective over all nodes, on compute nodes after the bodies have ended. A refusal says why the
  // commits could not be made part of the store.
  Result<Refusal> Close(Job& job);

 private:
  OpenStore() = default;
  std::string path_;
  ClusterRequest cluster_;
  std::unique_ptr<StoreClaim> claim_;  // on node 0
  std::unique_ptr<txn::GraphHost> host_;
  std::shared_ptr<BodyPool> pool_;
};

// The open stores of a node, by their number in the session.
using OpenStores = std::map<std::uint64_t, std::unique_ptr<OpenStore>>;

// Collective over all nodes: does what a call asks of every node about stores.
Result<Refusal> DoOnStores(Job& job, const Call& call, OpenStores& stores, OpenGraphs& graphs,
                           bool computes);

}  // namespace slimgraph::internal
