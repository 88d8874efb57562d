// Engines of transactions, as scenarios draw and start them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "tests/sim/scenario.h"
#include "txnlayer/protocol/make_protocol.h"
#include "txnlayer/workload/driver.h"

namespace slimgraph::test {

struct EngineSetting {
  NodeId compute = 1;
  std::uint32_t threads = 1;
  std::string transport;
  std::string protocol;
  txn::ProtocolOptions concurrency;
  std::string stages;   // "0" or "1" for each
  std::string without;  // an optimisation that is switched off; "": none
  txn::EngineOptions options;
  // With read timestamps: the clock of this node is ahead.
  NodeId hasty = 0;
  std::uint64_t ahead_us = 0;
};

// Draws everything but the options, for a job of so many nodes.
EngineSetting DrawEngine(World& world, NodeId nodes);

// What to call the setting beside the protocol.
inline std::string NameOfTimestamps(const EngineSetting& setting) {
  const txn::Timestamps timestamps = setting.concurrency.timestamps;
  return timestamps == txn::Timestamps::kNone ? ""
                                              : fmt::format(" {}", txn::TimestampsName(timestamps));
}

// Draws the level of isolation, if the protocol and the workload have several, and how long locks
// are waited for.
void DrawConcurrency(World& world, const std::string& workload, EngineSetting& setting);

std::unique_ptr<Cluster> StartCluster(Job& job, const EngineSetting& setting);

struct StartedEngine {
  std::unique_ptr<txn::Protocol> protocol;
  std::unique_ptr<txn::Engine> engine;

  txn::Engine& operator*() const { return *engine; }
  txn::Engine* operator->() const { return engine.get(); }
};
StartedEngine StartEngine(Cluster& cluster, const EngineSetting& setting);

// Collective: checks the history of the run and of the journals, if the workload records one.
void CheckHistory(World& world, Cluster& cluster, const txn::Workload& workload,
                  const EngineSetting& setting, const std::vector<std::string>& journals);

}  // namespace slimgraph::test
