// Shared by the commands of transactions: their options, the loaded workload, and their report.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/command.h"
#include "apps/job/job_runner.h"
#include "txnlayer/graph/apply_commits.h"
#include "txnlayer/protocol/make_protocol.h"
#include "txnlayer/workload/driver.h"

namespace slimgraph {

// The fastest on most workloads and networks here, and without calvin's limits.
constexpr const char* kUsualProtocol = "occ";

struct TxnOptions {
  JobOptions job;
  std::string workload;
  std::string protocol;  // "": kUsualProtocol
  std::string stages = "one-sided";
  bool protocol_chosen = false;  // the user has named none
  bool mix_stages = false;       // each transaction draws a random code
  std::string without;           // optimisations to switch off
  txn::WorkloadOptions work;
  std::uint32_t coroutines = 8;
  std::uint32_t replicas = 1;
  std::uint64_t log_bytes = 0;    // 0: the workload's default
  std::uint64_t table_bytes = 0;  // of each node; 0: what it has
  std::string die;
  std::uint64_t cache_bytes = 4 << 20;
  std::uint64_t delay_us = 0;
  txn::DriveOptions drive;
  std::string history;
  std::string analytics;             // analyses on snapshots during the run; "": none
  std::string export_to;             // a .slim file of the graph at the end; "": none
  std::string updates;               // a file of the changes; "": none
  std::string durable;               // the folder of the logs; "": none
  double fold = txn::kDefaultShare;  // the share of the base beyond which changes are folded
};

void DeclareTxnOptions(Options& options, TxnOptions& txn);

// Checks all that can be checked before a job is started. Replaces `--stages tcp` by messages (rpc)
// over the tcp transport, and a protocol that is not given by the usual one.
Status CheckTxnOptions(TxnOptions& options);

// All stage codes of the protocol that differ in effect.
Result<std::vector<std::string>> AllStageCodes(const TxnOptions& options);

// A workload on a job's nodes, ready to run.
class TxnJob {
 public:
  // Collective.
  static Result<std::unique_ptr<TxnJob>> Load(JobRun& run, const TxnOptions& options);

  // Between drives: sets other stages, coroutines or shares of the same workload.
  Status Configure(const TxnOptions& options);
  Result<txn::DriveResult> Drive();
  txn::Engine& engine() { return *engine_; }
  txn::Workload& workload() { return *workload_; }

  // Adds the figures to `report`, under `path`.
  void ReportFigures(const txn::DriveResult& result, Report& report, const std::string& path) const;
  std::string FormatSummary(const txn::DriveResult& result) const;

 private:
  TxnJob(JobRun& run, TxnOptions options) : run_(run), options_(std::move(options)) {}

  JobRun& run_;
  TxnOptions options_;
  std::unique_ptr<txn::Protocol> protocol_;
  std::unique_ptr<txn::Engine> engine_;
  std::unique_ptr<txn::Workload> workload_;
  Traffic traffic_{1};  // of all nodes, in the last drive
  // On node 0, if the store had been updated since the last run.
  std::optional<txn::ChangesReport> applied_;
};

}  // namespace slimgraph
