// A workload: its tables, its clients (one in each coroutine), and the conditions that must hold
// after a run.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "txnlayer/internal/durability/log_folder.h"
#include "txnlayer/transaction.h"
#include "txnlayer/workload/history.h"
#include "txnlayer/workload/internal/random.h"

namespace slimgraph::txn {

class TransactionalGraph;

// The value of an option that is not given.
constexpr double kDefaultShare = -std::numeric_limits<double>::infinity();

// How a record of an ordered table is found: by its hash; by way of its leaf; or by its home, in a
// tree. The tree is for comparison.
enum class Lookup : std::uint8_t { kHash, kLeaf, kTree };

struct WorkloadOptions {
  std::uint64_t rows = 0;  // accounts, rows, warehouses or lists; 0: the workload's default
  // The share of accesses that go to the hot area (in TPC-C, to other warehouses).
  double hot = kDefaultShare;
  double population = 1;         // in TPC-C: the share of the standard's customers and items
  std::uint64_t compute_us = 0;  // how long a transaction computes before it commits
  // In ycsb-a to ycsb-f.
  double theta = 0.99;           // of Zipf's distribution
  double write_share = -1;       // of operations that write; less than 0: the workload's own
  std::uint32_t operations = 1;  // of a transaction
  std::uint32_t record_bytes = 64;
  std::uint32_t scan_length = 100;  // at most
  Lookup lookup = Lookup::kHash;
  std::uint64_t seed = 1;
  std::string store;          // for workloads on graphs: the store's path
  std::string journal;        // for histories: path prefix of the nodes' journals; "": none
  bool note_updates = false;  // for workloads on a store
  double fold_share = 0;      // for workloads on a store: see GraphOptions
};

enum class Attempt : std::uint8_t {
  kCommitted,
  kAborted,     // retry it, unless it was refused
  kRolledBack,  // rolled back on purpose; do not retry
};

class Client {
 public:
  virtual ~Client() = default;
  // Chooses the next transaction.
  virtual void Choose() = 0;
  // Whether the chosen transaction writes nothing.
  virtual bool only_reads() const { return false; }
  // Which of the workload's Kinds() it is, and the partition for which it works.
  virtual std::uint32_t kind() const { return 0; }
  virtual std::uint32_t partition() const { return 0; }
  // Attempts the chosen transaction, from after Begin() to its end.
  virtual Attempt Try(Transaction& transaction) = 0;
};

class Workload {
 public:
  virtual ~Workload() = default;

  virtual std::string_view name() const = 0;
  // Collective: makes the tables, and fills this node's part.
  virtual Status Load(Engine& engine) = 0;
  // Identifies the store from which it was loaded, for data that is not in its tables.
  virtual LogSubject Source() const { return {}; }
  // Collective: the tables are no longer as loaded, but as earlier runs have left them. `run` is
  // the number of the coming run.
  virtual Status Resume(Engine&, std::uint64_t /*run*/) { return {}; }
  // Between runs: sets other shares and compute times for the clients of the next run.
  virtual void Configure(const WorkloadOptions& options) = 0;
  // Clients live until the next run of the workload. Called from all threads.
  virtual std::unique_ptr<Client> MakeClient(Transaction& transaction) = 0;
  // Collects the results of a client at its end. Called by one thread at a time.
  virtual void Collect(Client&) {}
  // Collective, after a run: checks the conditions that must hold.
  virtual Status Verify(Engine& engine) = 0;
  // The kinds of its transactions.
  virtual std::vector<std::string> Kinds() const { return {std::string(name())}; }
  // For workloads with several kinds of transactions, after Verify: the commits of each kind, on
  // all nodes.
  virtual std::vector<std::pair<std::string, std::uint64_t>> Counts() const { return {}; }
  // The graph on which it runs; null: none.
  virtual TransactionalGraph* graph() { return nullptr; }
  // The changes that this node's clients have made to the graph, in the format of
  // GraphTransaction::journal(), if they are recorded.
  virtual std::span<const std::uint64_t> updates() const { return {}; }
  // The bytes of its data on all nodes, by kind, after Verify.
  virtual std::vector<std::pair<std::string, std::uint64_t>> Memory() const { return {}; }
  // The history of its clients, if the workload records one.
  virtual const History* history() const { return nullptr; }
};

std::vector<std::string_view> WorkloadNames();
// Whether it runs on stores only.
bool RunsOnStore(std::string_view name);
// Whether its transactions are on a graph, of a store or of its own.
bool ChangesAGraph(std::string_view name);
Result<std::unique_ptr<Workload>> MakeWorkload(std::string_view name,
                                               const WorkloadOptions& options);

std::unique_ptr<Workload> MakeSmallBank(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeYcsb(const WorkloadOptions& options);
// Of ycsb-a to ycsb-f.
std::unique_ptr<Workload> MakeYcsbMix(char letter, const WorkloadOptions& options);
std::unique_ptr<Workload> MakeTpcc(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeTpccNewOrder(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeListAppend(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeGraphAppend(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeIndexAppend(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeLinkBench(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeTao(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeSnbUpdates(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeGraphChurn(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeEdgeUpdates(const WorkloadOptions& options);

}  // namespace slimgraph::txn
