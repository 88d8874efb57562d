// Helpers for the tests of transactions: they run jobs with a workload and check the results.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "slimgraph/base/shared_memory.h"
#include "slimgraph/base/sync.h"
#include "tests/support/seed.h"
#include "txnlayer/protocol/make_protocol.h"
#include "txnlayer/workload/driver.h"

namespace slimgraph::test {

// A number in memory that the test shares with the nodes of a job, which are processes. Initially
// 0.
class SharedNumber {
 public:
  SharedNumber() : memory_(*SharedMemory::Create(sizeof(std::uint64_t))) {}
  std::atomic_ref<std::uint64_t> operator*() const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory_->base()));
  }

 private:
  std::unique_ptr<SharedMemory> memory_;
};

// Deadlocks are common among clients that name few tuples at a time, so they wait briefly.
constexpr txn::ProtocolOptions kBriefWaits{.lock_timeout_ns = 1'000'000};

struct TxnSetting {
  std::string protocol;
  std::string stages = "one-sided";
  bool mix_stages = false;  // instead: each transaction draws its stages
  std::string workload = "list-append";
  std::string transport = "shm";
  std::string network = "none";
  NodeId nodes = 3;
  NodeId compute = 0;  // 0: all
  std::uint32_t threads = 1;
  std::uint32_t coroutines = 8;
  std::uint64_t transactions = 150;  // per coroutine
  double seconds = 20;               // at most
  double per_second = 0;             // in total; 0: as many as possible
  std::uint64_t delay_us = 0;
  std::string without = "";
  std::uint32_t replicas = 1;
  txn::Death death = {};
  txn::DeathInRepair death_in_repair = {};
  txn::Timestamps timestamps = txn::Timestamps::kNone;
  std::map<NodeId, std::uint64_t> killed_after_us = {};  // after the start of the run
  std::set<NodeId> victims() const;
  txn::WorkloadOptions work = {};
};
std::string NameOf(const TxnSetting& setting);

std::vector<std::string> AllProtocols();

// A random code for the protocol's stages.
std::string RandomStages(const std::string& protocol, std::mt19937_64& random);

// A workload of histories on a graph, with an index or without.
inline std::string OnGraph(std::mt19937_64& random) {
  return random() % 2 == 0 ? "graph-append" : "index-append";
}

// Protocols whose histories are strictly serializable. The others' are serializable.
bool IsStrict(const std::string& protocol);

// Kills this node when its time has come, unless the run is over by then.
std::optional<Thread> KillerOf(const TxnSetting& setting, txn::Engine& engine);

// Runs `body` on all nodes of a job. Only the nodes that the setting kills may die.
void OnTxnJob(const TxnSetting& setting, const std::function<void(Cluster&)>& body);

// Runs the workload on this node with that protocol. The test fails unless the run ends well.
using Check = std::function<void(txn::Engine&, txn::Workload&, const txn::DriveResult&)>;
void DriveSetting(Cluster& cluster, const TxnSetting& setting, const txn::Protocol& protocol,
                  const Check& check);

// The history of a run, with the events of all nodes; on node 0 only. AskAdya returns the verdict
// of `adya`: "" if it accepts the history or is not installed.
std::vector<std::string> Lines(txn::Engine& engine, txn::Workload& workload,
                               const txn::DriveResult& result);
std::string AskAdya(const std::vector<std::string>& lines, bool strict);

// The number of edges that folds have put into the base of the workload's graph, which began empty.
std::uint64_t FoldedEdges(txn::Workload& workload);

// Runs a job with the setting's protocol and workload. The workload verifies its data.
void RunSetting(const TxnSetting& setting, const Check& check = {});

// Calls body(engine, table, key, transaction) on node 0 of two; the key's tuple is on node 1.
using WithTupleAfar = std::function<void(txn::Engine&, txn::Table&, txn::Key, txn::Transaction&)>;
void OnNodeZero(const std::string& protocol, const std::string& stages, const WithTupleAfar& body);
// The same with two transactions of one coroutine, which take turns.
using WithTwo = std::function<void(txn::Table&, txn::Key, txn::Transaction&, txn::Transaction&)>;
void WithTwoAfar(const std::string& protocol, const std::string& stages, const WithTwo& body);

}  // namespace slimgraph::test
