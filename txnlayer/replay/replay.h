// Replays the lock requests of a trace on a simulated machine, and says how many transactions it
// commits.
//
// Half of the cores run server agents, each with the lock table of some partitions, or of a part of
// one. The other half run transaction agents. An agent runs one transaction at a time: it requests
// its locks one after the other, accesses the rows, lets all servers vote if several have rows that
// it has written, and tells them the end by one message each. An aborted transaction is retried
// almost at once. Each partition belongs to the agents of the same node, unless servers have nodes
// of their own.
#pragma once

#include "txnlayer/internal/engine/figures.h"
#include "txnlayer/replay/lock_plan.h"

namespace slimgraph::txn {

enum class ReplayProtocol : std::uint8_t { kNoWait, kWaitDie, kBoundedWait, kTimestampOrder };

// Durations on the simulated machine. The defaults give the paper's throughput and shares of time
// on its 4,096 cores of a Cray XC40 with 2,048 warehouses, serializable. A server takes the larger
// part of a request, because the paper found as many servers as transaction agents to be best.
struct MachineCosts {
  std::uint64_t local_ns = 300;    // a message to an agent of the same node
  std::uint64_t remote_ns = 1500;  // to one of another node
  std::uint64_t delay_ns = 0;      // in addition, between nodes
  std::uint64_t server_ns = 900;   // a server agent handles a message
  std::uint64_t row_ns = 500;      // an agent reads or writes a row of its own node
  std::uint64_t send_ns = 100;     // an agent sends a message for which it does not wait
  // An aborted transaction is retried after a random time up to this. If all agents were equally
  // fast, those that refuse each other once would do so for ever.
  std::uint64_t retry_ns = 1000;
};

struct ReplayOptions {
  ReplayProtocol protocol = ReplayProtocol::kBoundedWait;
  LockPlanOptions plan;
  std::uint64_t lock_timeout_ns = 1'000'000;
  std::uint32_t cores = 64;
  std::uint32_t cores_per_node = 32;
  // Servers are on nodes of their own, as on memory nodes, so each message leaves its node.
  bool separate_servers = false;
  std::uint32_t copies = 1;  // of the trace's partitions, which share no rows
  MachineCosts costs;
  double seconds = 0.01;  // simulated; the first fifth is not measured
  std::uint64_t seed = 1;
};

struct ReplayResult {
  double seconds = 0;  // that were measured
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t requests = 0;   // of locks
  std::uint64_t intention = 0;  // part of them: on parts of tables
  std::uint64_t waits = 0;      // requests that had to wait
  std::uint64_t votes = 0;      // transactions with a vote
  std::uint64_t servers = 0;    // that transactions have asked, in all
  std::vector<std::uint64_t> committed_of_kind;
  // Of all committed transactions together.
  std::uint64_t lock_ns = 0;  // in the attempt that commits
  std::uint64_t row_ns = 0;
  std::uint64_t vote_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t lost_ns = 0;  // in attempts that were aborted
  Latencies latencies;
};

Status CheckReplayOptions(const ReplayOptions& options);

// Fails if transactions were not isolated, or a lock is left in the end.
Result<ReplayResult> Replay(const AccessTrace& trace, const ReplayOptions& options);

}  // namespace slimgraph::txn
