// Shared by the commands of transactions: the loaded workload and its report.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/job/job_runner.h"
#include "apps/txn/txn_options.h"
#include "txnlayer/graph/apply_commits.h"
#include "txnlayer/workload/driver.h"

namespace slimgraph {

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
