#include "apps/txn/txn_job.h"

#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"
#include "slimgraph/cluster/gather.h"
#include "txnlayer/graph/fold.h"

namespace slimgraph {
namespace {

double Rate(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

double PerTransaction(std::uint64_t count, const txn::Figures& figures) {
  return static_cast<double>(count) /
         static_cast<double>(std::max<std::uint64_t>(1, figures.committed));
}

}  // namespace

Result<std::unique_ptr<TxnJob>> TxnJob::Load(JobRun& run, const TxnOptions& options) {
  const std::uint64_t start_ns = NowNs();
  if (options.protocol_chosen && run.cluster.self() == 0) {
    std::fputs(
        fmt::format("slimgraph: {} is taken, because --protocol is not given\n", options.protocol)
            .c_str(),
        stderr);
  }
  std::unique_ptr<TxnJob> job(new TxnJob(run, options));
  SLIM_ASSIGN(job->protocol_, ProtocolOf(options));
  txn::WorkloadOptions work = options.work;
  work.note_updates = !options.updates.empty();
  work.fold_share = !txn::ChangesAGraph(options.workload) ? 0
                    : options.fold == txn::kDefaultShare  ? kUsualFold
                                                          : options.fold;
  if (options.replicas > 1) work.journal = options.history;
  SLIM_ASSIGN(job->workload_, txn::MakeWorkload(options.workload, work));
  SLIM_ASSIGN(txn::EngineOptions engine, EngineOptionsOf(options, *job->protocol_));
  engine.on_last_room = [](const std::string& what) {
    std::fputs(fmt::format("slimgraph: {}\n", what).c_str(), stderr);
  };
  Cluster& cluster = run.cluster;
  if (cluster.self() == 0 && !options.durable.empty() && txn::RunsOnStore(options.workload)) {
    SLIM_ASSIGN(job->applied_, txn::ApplyCommitsBefore(options.work.store, options.durable));
  }
  SLIM_ASSIGN(job->engine_, txn::Engine::Make(cluster, *job->protocol_, engine));
  SLIM_TRY(job->workload_->Load(*job->engine_));
  if (!options.durable.empty()) {
    SLIM_TRY(txn::KeepLogs(*job->engine_, *job->workload_, options.durable));
    const txn::Ledger* const ledger = job->engine_->durability()->ledger();
    if (cluster.self() == 0 && ledger != nullptr && ledger->by_read() && !ledger->persistent()) {
      std::fputs(
          fmt::format("slimgraph: {} is not on persistent memory: with --flush read, commits "
                      "survive the death of all nodes, but not a loss of power\n",
                      options.durable)
              .c_str(),
          stderr);
    }
  }
  if (options.delay_us > 0) {
    for (std::uint32_t i = 0; i < cluster.threads(); ++i) {
      for (NodeId node = 0; node < cluster.topology().nodes(); ++node) {
        cluster.fabric().endpoint(i).faults().Delay(node,
                                                    std::chrono::microseconds(options.delay_us));
      }
    }
  }
  SLIM_TRY(cluster.all().Barrier());
  run.load_s = SecondsSince(start_ns);
  run.load_traffic = cluster.fabric().traffic();
  return job;
}

Status TxnJob::Configure(const TxnOptions& options) {
  options_ = options;
  SLIM_ASSIGN(const txn::EngineOptions engine, EngineOptionsOf(options, *protocol_));
  workload_->Configure(options.work);
  return engine_->Configure(engine);
}

Result<txn::DriveResult> TxnJob::Drive() {
  Cluster& cluster = run_.cluster;
  cluster.fabric().ClearTraffic();
  SLIM_ASSIGN(const txn::DriveResult result, txn::Drive(*engine_, *workload_, options_.drive));
  const Traffic mine = cluster.fabric().traffic();
  run_.run_traffic = mine;
  run_.run_s = result.seconds;
  SLIM_ASSIGN(const auto all, GatherByRank<std::uint64_t>(cluster.all(), mine.Numbers()));
  traffic_ = Traffic(cluster.topology().nodes());
  for (const auto& theirs : all) traffic_.Add(theirs);
  return result;
}

void TxnJob::ReportFigures(const txn::DriveResult& result, Report& report,
                           const std::string& path) const {
  const txn::Figures& figures = result.figures;
  const auto set = [&](const char* name, Report::Value value) {
    report.Set(path + name, std::move(value));
  };
  set("/workload", options_.workload);
  set("/protocol", options_.protocol);
  set("/isolation", std::string(txn::IsolationName(protocol_->isolation())));
  set("/timestamps", std::string(txn::TimestampsName(options_.concurrency.timestamps)));
  set("/stages", engine_->options().stages.Digits(protocol_->stages()));
  if (options_.drive.finds_coroutines) {
    set("/coroutines", result.coroutines);
  } else {
    set("/coroutines", std::uint64_t{CoroutinesOf(options_)});
  }
  set("/seconds", result.seconds);
  set("/replicas", std::uint64_t{options_.replicas});
  if (txn::Durability* const logs = engine_->durability(); logs != nullptr) {
    set("/durable/run", logs->run());
    set("/durable/recovered_transactions", logs->recovered().transactions);
    set("/durable/recovered_records", logs->recovered().records);
    set("/durable/cut_bytes", logs->recovered().cut_bytes);
    set("/durable/syncs_of_node_0", logs->log().syncs());
    set("/durable/checkpoints", result.checkpoints);
    set("/durable/commit_log", std::string(options_.ledger.remote ? "remote" : "local"));
    if (const txn::Ledger* const ledger = logs->ledger()) {
      set("/durable/flush", std::string(ledger->by_read() ? "read" : "home"));
      set("/durable/persistent_memory", ledger->persistent());
    }
    set("/durable/applied_changes", applied_ ? applied_->vertices + applied_->edges : 0);
  }
  if (!result.lost.empty()) {
    report.Set(path + "/lost_nodes",
               std::vector<std::uint64_t>(result.lost.begin(), result.lost.end()));
    set("/repair_s", result.repair_s);
  }
  set("/committed", figures.committed);
  set("/throughput_per_s", Rate(figures.committed, result.seconds));
  const std::uint64_t ended = figures.committed + figures.all_aborted();
  set("/aborted", figures.all_aborted());
  set("/abort_rate", ended == 0 ? 0.0 : Rate(figures.all_aborted(), static_cast<double>(ended)));
  for (std::size_t i = 1; i < txn::kNumAbortReasons; ++i) {
    const char* const reason = txn::AbortReasonName(static_cast<txn::AbortReason>(i));
    if (figures.aborted[i] > 0) report.Set(path + "/aborts/" + reason, figures.aborted[i]);
  }
  for (const auto& [name, share] :
       {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}}) {
    report.Set(path + "/latency_us/" + name, figures.latencies.Percentile(share) * 1e-3);
  }
  set("/refused", figures.refused());
  set("/most_tries", figures.most_tries);
  if (options_.concurrency.timestamps != txn::Timestamps::kNone) {
    set("/read_only/committed", figures.read_only);
    set("/read_only/aborted", figures.read_only_aborts);
    set("/read_only/most_ahead_us", figures.most_ahead_us);
  }
  set("/stopped_begins", figures.stopped_begins);
  set("/sweeps", std::uint64_t{engine_->sweeps()});
  set("/growths", std::uint64_t{engine_->growths()});
  for (const auto& [what, count] : workload_->Counts()) {
    report.Set(fmt::format("{}/operations/{}", path, what), count);
  }
  const TrafficCount total = traffic_.Total();
  const std::uint64_t messages = traffic_.OfKind(TrafficKind::kMessage).operations;
  for (const auto& [what, bytes] : workload_->Memory()) {
    report.Set(fmt::format("{}/memory_bytes/{}", path, what), bytes);
  }
  if (txn::TransactionalGraph* const graph = workload_->graph();
      graph != nullptr && graph->fold_worker() != nullptr) {
    const txn::FoldWorker::Figures& folding = graph->fold_worker()->figures();
    set("/folding/folds", graph->fold_worker()->folds());
    set("/folding/seconds", folding.seconds);
    set("/folding/longest_pause_s", folding.longest_pause_s);
  }
  set("/per_transaction/round_trips", PerTransaction(total.round_trips, figures));
  set("/per_transaction/messages", PerTransaction(messages, figures));
  set("/per_transaction/operations", PerTransaction(total.operations - messages, figures));
  set("/per_transaction/bytes", PerTransaction(total.bytes(), figures));
  for (const txn::Stage stage : protocol_->stages()) {
    const bool one_sided = engine_->options().stages.one_sided(stage);
    report.Set(path + "/stage_us/" + txn::StageName(stage),
               figures.StageNs(stage, one_sided) * 1e-3);
  }
}

std::string TxnJob::FormatSummary(const txn::DriveResult& result) const {
  const txn::Figures& figures = result.figures;
  std::string reasons;
  for (std::size_t i = 1; i < txn::kNumAbortReasons; ++i) {
    if (figures.aborted[i] == 0) continue;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", FormatCount(figures.aborted[i]),
                           txn::AbortReasonName(static_cast<txn::AbortReason>(i)));
  }
  std::string before;
  if (applied_) {
    before = fmt::format(
        "{} has been updated since the commits in {}: they were applied to it, {} vertices and {} "
        "edges; {} changes were left out, because later updates have overwritten them\n",
        options_.work.store, options_.durable, FormatCount(applied_->vertices),
        FormatCount(applied_->edges), FormatCount(applied_->left_out));
  }
  if (txn::Durability* const logs = engine_->durability(); logs != nullptr && logs->run() > 1) {
    const txn::Recovered& back = logs->recovered();
    before += fmt::format(
        "recovered {} records from {}, with {} transactions of the last run{}\n",
        FormatCount(back.records), options_.durable, FormatCount(back.transactions),
        back.cut_bytes == 0 ? "" : fmt::format("; {} torn bytes were cut off", back.cut_bytes));
  }
  std::string deaths;
  for (const NodeId node : result.lost) deaths += fmt::format("node {} has died; ", node);
  if (!deaths.empty()) {
    deaths += fmt::format("its data was rebuilt in {}\n", FormatSeconds(result.repair_s));
  }
  std::string refused;
  for (std::size_t i = 0; i < txn::kNumAbortReasons; ++i) {
    const auto reason = static_cast<txn::AbortReason>(i);
    if (!txn::IsRefusal(reason) || figures.aborted[i] == 0) continue;
    refused += fmt::format("refused: {} transactions ({}): {}\n", FormatCount(figures.aborted[i]),
                           txn::AbortReasonName(reason), txn::RefusalText(reason));
  }
  const txn::Isolation isolation = protocol_->isolation();
  const std::string level = isolation == txn::Isolation::kSerializable
                                ? ""
                                : fmt::format(" at {}", txn::IsolationName(isolation));
  const txn::Timestamps timestamps = options_.concurrency.timestamps;
  const std::string times = timestamps == txn::Timestamps::kNone
                                ? ""
                                : fmt::format(", {} timestamps", txn::TimestampsName(timestamps));
  return before + deaths +
         fmt::format(
             "{} with {}{}{}, stages {}{}: {} transactions in {}, {} per second\n"
             "aborted: {}{}{}{}; half of the transactions took at most {}, 99 % {}\n",
             options_.workload, options_.protocol, level, times,
             engine_->options().stages.Digits(protocol_->stages()),
             options_.drive.finds_coroutines ? fmt::format(", {:.3g} coroutines", result.coroutines)
                                             : "",
             FormatCount(figures.committed), FormatSeconds(result.seconds),
             FormatCount(static_cast<std::uint64_t>(Rate(figures.committed, result.seconds))),
             FormatCount(figures.all_aborted()), reasons.empty() ? "" : " (", reasons,
             reasons.empty() ? "" : ")", FormatSeconds(figures.latencies.Percentile(0.5) * 1e-9),
             FormatSeconds(figures.latencies.Percentile(0.99) * 1e-9)) +
         refused;
}

}  // namespace slimgraph
