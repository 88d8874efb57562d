// A kind of transactions to be run and measured: its tables, its clients (one in each coroutine),
// and what must hold when all is over.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "txnlayer/history.h"
#include "txnlayer/transaction.h"
#include "txnlayer/workload/random.h"

namespace slimgraph::txn {

class TransactionalGraph;

// Of a number that is not said.
constexpr double kUsual = -std::numeric_limits<double>::infinity();

struct WorkloadOptions {
  std::uint64_t rows = 0;  // accounts, rows, warehouses or lists; 0: the workload's own number
  // The share of accesses that go to the hot area (in TPC-C, to other warehouses).
  double hot = kUsual;
  std::uint64_t compute_us = 0;  // that a transaction computes before it commits
  std::uint64_t seed = 1;
  std::string store;          // of the workloads on graphs: where the graph is
  std::string journal;        // of histories: the files of nodes' journals begin so; "": none
  bool note_updates = false;  // of the workloads on a store
  double fold_share = 0;      // of them as well: GraphOptions
};

enum class Attempt : std::uint8_t {
  kCommitted,
  kAborted,  // to be tried again
  kGaveUp,   // rolled back for good: that is what it wanted
};

class Client {
 public:
  virtual ~Client() = default;
  // Chooses the next transaction.
  virtual void Choose() = 0;
  // Tries it, from after Begin() to its end.
  virtual Attempt Try(Transaction& transaction) = 0;
};

class Workload {
 public:
  virtual ~Workload() = default;

  virtual std::string_view name() const = 0;
  // Collective: makes the tables, and fills in this node's part.
  virtual Status Load(Engine& engine) = 0;
  // What it was loaded from, where that is not in its tables.
  virtual std::uint64_t Source() const { return 0; }
  // Collective: the tables are not as they were loaded, but as earlier runs have left them; of all
  // runs, the one to come has that number.
  virtual Status Resume(Engine&, std::uint64_t /*run*/) { return {}; }
  // Between runs: other shares and computations, for the clients of the next.
  virtual void Configure(const WorkloadOptions& options) = 0;
  // Clients live until the next run of the workload. Called from all threads.
  virtual std::unique_ptr<Client> MakeClient(Transaction& transaction) = 0;
  // Takes in what a client knows at its end. Called by one thread at a time.
  virtual void Collect(Client&) {}
  // Collective, after a run: whether all is as it must be.
  virtual Status Verify(Engine& engine) = 0;
  // How often what has committed, on all nodes, after Verify; for workloads of several kinds.
  virtual std::vector<std::pair<std::string, std::uint64_t>> Counts() const { return {}; }
  // The graph that it runs on; null: none.
  virtual TransactionalGraph* graph() { return nullptr; }
  // What the clients of this node have changed in it, as GraphTransaction::journal() has it, where
  // that is noted.
  virtual std::span<const std::uint64_t> updates() const { return {}; }
  // What its data takes on all nodes, in bytes, after Verify, by kind.
  virtual std::vector<std::pair<std::string, std::uint64_t>> Memory() const { return {}; }
  // What the clients did, where the workload notes it.
  virtual const History* history() const { return nullptr; }
};

// The latest records of a table, those of which this node is the primary, when nothing runs. Null
// where there is none.
void ForEachRecord(Engine& engine, Table& table,
                   const std::function<void(Key, const std::byte*)>& look);

std::vector<std::string_view> WorkloadNames();
// Whether it runs on a store, and on nothing else.
bool RunsOnStore(std::string_view name);
Result<std::unique_ptr<Workload>> MakeWorkload(std::string_view name,
                                               const WorkloadOptions& options);

std::unique_ptr<Workload> MakeSmallBank(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeYcsb(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeTpccNewOrder(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeListAppend(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeGraphAppend(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeLinkBench(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeTao(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeSnbUpdates(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeGraphChurn(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeEdgeUpdates(const WorkloadOptions& options);

}  // namespace slimgraph::txn
