// Transactions on a cluster: the tables, the protocol, and the threads and coroutines that run
// them. Open this header first, then transaction.h.
//
// Every node makes the same engine and the same tables. Compute nodes run transactions, all nodes
// hold tuples; a node's threads serve two-sided stages of the others while its own coroutines run,
// and sleep when there is nothing to do.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "txnlayer/figures.h"
#include "txnlayer/protocol/protocol.h"
#include "txnlayer/store/location_cache.h"

namespace slimgraph::txn {

class RpcServer;

// What requests ask for from here on is the protocol's companion's business.
constexpr std::uint16_t kFirstCompanionRequest = 32;

// A stage's number in the accounts of traffic.
StageId TrafficStage(Stage stage);

struct EngineOptions {
  StageCode stages = {};
  bool mix_stages = false;  // instead: each transaction draws a code, so that all forms are seen
  std::uint32_t coroutines = 1;  // of each thread
  // Each can be switched off, to see what it is worth.
  bool outstanding = true;  // requests to several tuples are under way together
  bool doorbells = true;    // operations on a tuple go out together
  bool passive = true;      // nobody waits for the acknowledgement of a commit or a release
  std::uint64_t cache_bytes = 4 << 20;  // of each thread's location cache; 0: none
};

// Words of the options "a,b": outstanding, doorbells, passive, cache. Switches them off.
Status SwitchOff(std::string_view words, EngineOptions& options);

Status CheckCoroutines(std::uint32_t coroutines);

class Engine {
 public:
  // `protocol` outlives the engine.
  static Result<std::unique_ptr<Engine>> Make(Cluster& cluster, const Protocol& protocol,
                                              const EngineOptions& options);
  ~Engine();

  Cluster& cluster() { return cluster_; }
  NodeId self() const { return cluster_.self(); }
  const Protocol& protocol() const { return protocol_; }
  const EngineOptions& options() const { return options_; }
  // Between runs, the same on all nodes: other stages, coroutines, optimisations.
  Status Configure(const EngineOptions& options);

  // Collective.
  Result<Table*> AddTable(const TableSpec& spec);
  Table& table(TableId id) { return *tables_[id]; }
  TableId tables() const { return static_cast<TableId>(tables_.size()); }

  // Which of the home's threads serves requests for a key.
  EndpointAddress ServerOf(const Table& table, Key key) const;

  // Collective: on compute nodes `body` runs once in each coroutine; returns when it has ended on
  // all nodes and nothing is under way any more. `figures()` are then this node's.
  using Body = std::function<void(Transaction&)>;
  Status Run(const Body& body);
  const Figures& figures() const { return figures_; }

  // When a run should end, as a time of NowNs(): long bodies look at it.
  void SetDeadline(std::uint64_t ns) { deadline_ns_ = ns; }
  bool over() const;

 private:
  friend class Transaction;
  Engine(Cluster& cluster, const Protocol& protocol, const EngineOptions& options);
  Status RunThread(std::uint32_t thread, const Body& body);
  void Leave(Task& task);

  Cluster& cluster_;
  const Protocol& protocol_;
  EngineOptions options_;
  std::vector<std::unique_ptr<Table>> tables_;
  struct Thread;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::atomic<std::uint32_t> threads_left_{0};  // node 0: of all nodes
  std::atomic<bool> failed_{false};
  std::uint64_t deadline_ns_ = ~std::uint64_t{0};
  Figures figures_;
};

}  // namespace slimgraph::txn
