// What the tests of transactions share: jobs that run a workload, and what is looked at afterwards.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "txnlayer/driver.h"

namespace slimgraph::test {

// Prints its seed; SLIMGRAPH_TEST_SEED takes it back.
std::uint64_t TestSeed();

struct TxnSetting {
  std::string protocol;
  std::string stages = "one-sided";
  bool mix_stages = false;  // whatever these are
  std::string workload = "list-append";
  std::string transport = "shm";
  std::string network = "none";
  NodeId nodes = 3;
  NodeId compute = 0;  // 0: all
  std::uint32_t threads = 1;
  std::uint32_t coroutines = 8;
  std::uint64_t transactions = 150;  // of each coroutine
  double seconds = 20;               // at most
  double per_second = 0;             // of all; 0: as many as possible
  std::uint64_t delay_us = 0;
  std::string without = "";
  std::uint32_t replicas = 1;
  txn::Death death = {};
  txn::DeathInRepair death_in_repair = {};
  std::map<NodeId, std::uint64_t> killed_after_us = {};  // from the start of the run
  std::set<NodeId> victims() const;
  txn::WorkloadOptions work = {};
};
std::string NameOf(const TxnSetting& setting);

// A random code for the protocol's stages.
std::string RandomStages(const std::string& protocol, std::mt19937_64& random);

// The protocols whose histories keep the order of real time; the others' are serializable.
bool IsStrict(const std::string& protocol);

// Kills this very node when its time has come, unless the run is over by then.
std::optional<std::jthread> KillerOf(const TxnSetting& setting, txn::Engine& engine);

// Runs `body` on all nodes of a job of that setting. Those that are to die may, and others not.
void OnTxnJob(const TxnSetting& setting, const std::function<void(Cluster&)>& body);

// On a node: the workload, driven by that protocol. Fails the test where it does not end well.
using Look = std::function<void(txn::Engine&, txn::Workload&, const txn::DriveResult&)>;
void DriveSetting(Cluster& cluster, const TxnSetting& setting, const txn::Protocol& protocol,
                  const Look& look);

// The history of a run with all nodes' events, on node 0; empty on the others. And what the second
// checker, which is not ours, says: "" where it is not installed or has accepted.
std::vector<std::string> Lines(txn::Engine& engine, txn::Workload& workload,
                               const txn::DriveResult& result);
std::string AskAdya(const std::vector<std::string>& lines, bool strict);

// All of it, with the protocol of the setting. The workload verifies its data.
void RunSetting(const TxnSetting& setting, const Look& look = {});

}  // namespace slimgraph::test
