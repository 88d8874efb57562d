// What the commands of transactions share: their options, the loaded workload, and what they
// report.
#pragma once

#include <memory>
#include <string>

#include "apps/command.h"
#include "apps/job_runner.h"
#include "txnlayer/driver.h"

namespace slimgraph {

struct TxnOptions {
  JobOptions job;
  std::string workload;
  std::string protocol;
  std::string stages = "one-sided";
  bool mix_stages = false;  // each transaction draws a code
  std::string without;      // optimisations that are switched off
  txn::WorkloadOptions work;
  std::uint32_t coroutines = 8;
  std::uint32_t replicas = 1;
  std::uint64_t log_bytes = 0;  // 0: as the workload needs
  std::string die;
  std::uint64_t cache_bytes = 4 << 20;
  std::uint64_t delay_us = 0;
  txn::DriveOptions drive;
  std::string history;
  std::string analytics;      // on snapshots, while the transactions run
  std::string export_to;      // a .slim file of the graph at the end; "": none
  std::string updates;        // a file of what has changed; "": none
  std::string durable;        // the folder of the logs; "": none
  double fold = txn::kUsual;  // the share of the base beyond which changes are folded
};

void DeclareTxnOptions(Options& options, TxnOptions& txn);

// What can be told before a job is started. `--stages tcp` becomes messages over tcp.
Status CheckTxnOptions(TxnOptions& options);

// Every code of the protocol that makes a difference.
Result<std::vector<std::string>> AllStageCodes(const TxnOptions& options);

// A workload on a job's nodes, ready to run.
class TxnJob {
 public:
  // Collective.
  static Result<std::unique_ptr<TxnJob>> Load(Run& run, const TxnOptions& options);

  // Between drives: other stages, coroutines, shares of the same workload.
  Status Configure(const TxnOptions& options);
  Result<txn::DriveResult> Drive();
  txn::Engine& engine() { return *engine_; }
  txn::Workload& workload() { return *workload_; }

  // The figures under `path`.
  void Describe(const txn::DriveResult& result, Report& report, const std::string& path) const;
  std::string InWords(const txn::DriveResult& result) const;

 private:
  TxnJob(Run& run, TxnOptions options) : run_(run), options_(std::move(options)) {}

  Run& run_;
  TxnOptions options_;
  std::unique_ptr<txn::Protocol> protocol_;
  std::unique_ptr<txn::Engine> engine_;
  std::unique_ptr<txn::Workload> workload_;
  Traffic traffic_{1};  // of all nodes, in the last drive
};

}  // namespace slimgraph
