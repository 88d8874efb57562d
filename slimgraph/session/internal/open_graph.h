// A graph of a session on one node: its file, and the lists that are loaded. Compute nodes and
// memory nodes have the same open graphs, and load and unload lists together.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dgemini/engine.h"
#include "dgemini/shortest_paths.h"
#include "slimgraph/base/shared_memory.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/session/internal/call.h"

namespace slimgraph::internal {

// How the nodes of a session work together, by which each cluster of theirs is made.
struct ClusterRequest {
  NodeId compute = 1;
  std::uint32_t threads = 1;
  char transport[16] = {};
  char network[16] = {};
  CacheOptions cache;

  ClusterOptions Options() const;
};

// The lists that vertex programs need.
struct VertexRequest {
  ClusterRequest cluster;
  bool weights = false;
  bool pull_in = false;
  bool pull_out = false;
  bool paths = false;  // weights must suit shortest paths, and are examined
  bool both = false;   // of a directed graph: lists as BothDirections has them
  // The memory of the program's values, in bytes per vertex of the graph and of a share, and per
  // arc of a thread's longest list.
  double vertex_bytes = 0;
  double share_bytes = 0;
  double list_bytes = 0;

  // Makes this request cover `other` as well, which has the same `both`.
  void Add(const VertexRequest& other) {
    weights |= other.weights;
    pull_in |= other.pull_in;
    pull_out |= other.pull_out;
    paths |= other.paths;
    vertex_bytes = std::max(vertex_bytes, other.vertex_bytes);
    share_bytes = std::max(share_bytes, other.share_bytes);
    list_bytes = std::max(list_bytes, other.list_bytes);
  }
  // Whether lists that were loaded for this request suffice for `other`.
  bool Covers(const VertexRequest& other) const {
    return weights >= other.weights && pull_in >= other.pull_in && pull_out >= other.pull_out &&
           paths >= other.paths && vertex_bytes >= other.vertex_bytes &&
           share_bytes >= other.share_bytes && list_bytes >= other.list_bytes;
  }
};

// An error that is the same on all nodes, after which the session goes on; or nothing.
using Refusal = std::optional<Error>;

// The memory that the original ids of a file or of a snapshot take on each node, at most.
std::uint64_t OriginalIdBytes(const GraphSource& graph);

// A loaded graph for D-Gemini, in a cluster of its own, because the regions of a cluster are freed
// only with it.
class VertexLists {
 public:
  // Collective over all nodes. If the weights do not suit shortest paths, refusal() says so, and
  // the lists are loaded without request().paths. If the lists do not fit into memory, refusal()
  // says so, and nothing is loaded.
  static Result<std::unique_ptr<VertexLists>> Load(Job& job, const GraphSource& file,
                                                   const VertexRequest& request);
  const Refusal& refusal() const { return refusal_; }
  bool loaded() const { return work_ != nullptr; }
  // Collective over all nodes.
  Status Unload() { return cluster_->Stop(); }

  const VertexRequest& request() const { return request_; }
  Cluster& cluster() { return *cluster_; }
  dgemini::Workload& work() { return *work_; }
  dgemini::Exchange& exchange() { return *exchange_; }
  dgemini::ShortestPaths& paths() { return paths_; }  // if request().paths

 private:
  explicit VertexLists(const VertexRequest& request) : request_(request) {}
  VertexRequest request_;
  Refusal refusal_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<dgemini::Exchange> exchange_;
  std::unique_ptr<dgemini::Workload> work_;
  dgemini::ShortestPaths paths_;
};

class MiningLists;  // mining.h

class OpenGraph {
 public:
  // Memory nodes do not need the original ids. Messages call the file `shown`.
  static Result<std::unique_ptr<OpenGraph>> Open(const std::string& path, const std::string& shown,
                                                 bool with_ids);
  ~OpenGraph();
  OpenGraph(const OpenGraph&) = delete;
  OpenGraph& operator=(const OpenGraph&) = delete;

  // The graph of a pool. `memories`: those of this node's part; a compute node has none.
  static Result<std::unique_ptr<OpenGraph>> OpenStanding(
      const std::string& facts, std::span<const std::unique_ptr<SharedMemory>> memories,
      bool with_ids);

  // A graph that is no file. `release` is called on all nodes when the graph is dropped, and is
  // destroyed after the source.
  static std::unique_ptr<OpenGraph> Hold(std::unique_ptr<GraphSource> source, OriginalIds ids,
                                         std::function<Status()> release);

  // A .slim file, or a snapshot of a store.
  const GraphSource& file() const { return *file_; }
  const std::shared_ptr<const OriginalIds>& ids() const { return ids_; }
  // Null unless loaded; `both`: those of a directed graph as BothDirections has them.
  VertexLists* lists(bool both) const { return lists_[both ? 1 : 0].get(); }

  // Collective over all nodes: replaces the loaded lists of the same `both`.
  Result<Refusal> LoadVertexLists(Job& job, const VertexRequest& request);
  // What is loaded for D-Kudu, or null.
  std::unique_ptr<MiningLists>& mining() { return mining_; }
  // Collective over all nodes.
  Status Unload();
  // Collective over all nodes, before it is destroyed.
  Status Close();

 private:
  OpenGraph(std::unique_ptr<GraphSource> file, OriginalIds ids);
  std::function<Status()> release_;
  std::unique_ptr<GraphSource> file_;
  std::shared_ptr<const OriginalIds> ids_;
  std::unique_ptr<VertexLists> lists_[2];  // by request().both
  std::unique_ptr<MiningLists> mining_;
};

// The open graphs of a node, by their number in the session.
using OpenGraphs = std::map<std::uint64_t, std::unique_ptr<OpenGraph>>;

// What all nodes of a session must have in common, as text: the layout of requests.
std::string VersionOfCalls();

// Collective over all nodes: does what a call asks of every node, except to mine. `standing`: this
// node's part of a pool's graph.
Result<Refusal> DoOnEveryNode(Job& job, const Call& call, OpenGraphs& graphs,
                              std::span<const std::unique_ptr<SharedMemory>> standing,
                              bool computes);
// Collective over all nodes: unloads everything that can be loaded again, to make room.
Status UnloadAll(OpenGraphs& graphs);
// Collective over all nodes: unloads and forgets these graphs.
Status DropGraphs(const std::vector<std::uint64_t>& dropped, OpenGraphs& graphs);

}  // namespace slimgraph::internal
