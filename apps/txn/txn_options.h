// The options of the commands of transactions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/command.h"
#include "apps/job/job_runner.h"
#include "txnlayer/protocol/make_protocol.h"
#include "txnlayer/workload/driver.h"

namespace slimgraph {

// The fastest on most workloads and networks here, and without calvin's limits.
constexpr const char* kUsualProtocol = "occ";

constexpr double kUsualFold = 0.25;
constexpr std::uint32_t kUsualCoroutines = 8;  // where the run cannot find how many

struct TxnOptions {
  JobOptions job;
  std::string workload;
  std::string protocol;  // "": kUsualProtocol
  txn::ProtocolOptions concurrency;
  bool lock_timeout_given = false;
  std::string stages = "one-sided";
  bool protocol_chosen = false;  // the user has named none
  bool mix_stages = false;       // each transaction draws a random code
  std::string without;           // optimisations to switch off
  txn::WorkloadOptions work;
  std::optional<std::uint32_t> coroutines = {};  // nullopt: the run finds it
  std::uint32_t most_coroutines = 0;             // that a later drive of the same job has
  std::uint32_t replicas = 1;
  std::uint64_t log_bytes = 0;      // 0: the workload's default
  std::uint64_t version_bytes = 0;  // 0: the default
  std::uint64_t table_bytes = 0;    // of each node; 0: what it has
  std::string die;
  std::uint64_t cache_bytes = 4 << 20;
  std::uint64_t delay_us = 0;
  txn::DriveOptions drive;
  std::string history;
  std::string analytics;             // analyses on snapshots during the run; "": none
  std::string export_to;             // a .slim file of the graph at the end; "": none
  std::string updates;               // a file of the changes; "": none
  std::string durable;               // the folder of the logs; "": none
  txn::LedgerOptions ledger;         // its ring_bytes are not an option
  double fold = txn::kDefaultShare;  // the share of the base beyond which changes are folded
};

// kFound: the command finds the stages, so there is no --stages.
enum class StagesAre : bool { kGiven, kFound };
void DeclareTxnOptions(Options& options, TxnOptions& txn, StagesAre stages = StagesAre::kGiven);

// Checks all that can be checked before a job is started. Replaces `--stages tcp` by messages (rpc)
// over the tcp transport, and a protocol that is not given by the usual one.
Status CheckTxnOptions(TxnOptions& options);

Result<std::unique_ptr<txn::Protocol>> ProtocolOf(const TxnOptions& options);

// All stage codes of the protocol that differ in effect.
Result<std::vector<std::string>> AllStageCodes(const TxnOptions& options);

// How many coroutines each thread has: what is given, or as many as may be found.
std::uint32_t CoroutinesOf(const TxnOptions& options);

Result<txn::EngineOptions> EngineOptionsOf(const TxnOptions& options,
                                           const txn::Protocol& protocol);

}  // namespace slimgraph
