// The nodes of a session, as one compute node sees them: how they come together, what they have
// opened, and how they part. Shared by the Session and its graphs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/pool/attach.h"
#include "slimgraph/session/internal/open_graph.h"
#include "slimgraph/session/internal/processes.h"
#include "slimgraph/session/session.h"

namespace slimgraph::internal {

class OpenStore;  // open_store.h, which programs of the user's own need not include

class Nodes {
 public:
  static Result<std::shared_ptr<Nodes>> Form(const SessionOptions& options);
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes();

  NodeId self() const { return self_; }
  NodeId nodes() const { return nodes_; }
  NodeId compute() const { return request_.compute; }
  const ClusterRequest& request() const { return request_; }
  bool closed() const { return job_ == nullptr; }
  // Whether it is open and no call has ended it.
  bool usable() const { return job_ != nullptr && !failure_; }
  Job& job() { return *job_; }

  // An error if other compute nodes cannot call functions of the user's program.
  Status CheckRunsFunctionsOfProgram(const std::string& call) const;

  // Collective over all nodes: agrees on a call and does what it asks of every node. `mine` is the
  // call, or why node 0 cannot make it.
  Result<Call> Do(const std::string& name, Result<Call> mine);
  // Ends the session after a failure that other nodes may not see, and returns why it is over. On
  // one node the session goes on, since nobody waits for this node, unless it was cancelled.
  Error Fail(const Error& error);

  void Cancel();
  std::optional<double> progress() const { return job_ ? job_->progress() : std::nullopt; }

  // Of the graph of a pool to which the session is attached; "": it is not attached, or this is not
  // node 0.
  std::string pool_facts() const { return attachment_ ? attachment_->facts().facts : ""; }
  std::uint64_t NewGraph() { return ++last_graph_; }
  // Null once the graph is dropped.
  OpenGraph* Find(std::uint64_t graph);
  OpenGraphs& graphs() { return graphs_; }
  // Null once the store is closed.
  OpenStore* FindStore(std::uint64_t store);
  // Unloads the graph at the next call.
  void Drop(std::uint64_t graph) { dropped_.push_back(graph); }

  Status Close();

 private:
  Nodes();
  Status Start(const SessionOptions& options);
  // The four ways in which nodes come together: this process starts all other nodes, and other
  // compute nodes follow it, or a pool starts the memory nodes; `slimgraph launch` has started the
  // compute nodes; mpiexec or srun has started all nodes.
  Status StartHere(const SessionOptions& options);
  Status StartAttached(const SessionOptions& options);
  Status StartAt(const Place& place, const SessionOptions& options);
  Status JoinLaunched(const SessionOptions& options);
  Status StartHelpers(NodeId first, const std::string& program, JoinConfig config);

  NodeId self_ = 0;
  NodeId nodes_ = 1;
  ClusterRequest request_;
  bool followed_ = false;  // other compute nodes are helpers, which do what node 0 calls
  HelperProcesses helpers_;
  std::unique_ptr<Attachment> attachment_;  // to a pool
  std::unique_ptr<Job> job_;                // null once the session is closed
  OpenGraphs graphs_;
  std::map<std::uint64_t, std::unique_ptr<OpenStore>> stores_;
  std::uint64_t last_graph_ = 0;
  std::vector<std::uint64_t> dropped_;
  std::optional<Error> failure_;
};

}  // namespace slimgraph::internal
