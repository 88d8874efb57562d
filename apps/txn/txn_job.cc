#include "apps/txn/txn_job.h"

#include <algorithm>

#include "apps/job/job_command.h"
#include "apps/txn/analytics.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/units.h"
#include "slimgraph/cluster/gather.h"
#include "txnlayer/graph/fold.h"

namespace slimgraph {
namespace {

std::string Join(const std::vector<std::string_view>& words, const char* between) {
  std::string joined;
  for (const std::string_view word : words) {
    joined += (joined.empty() ? "" : between) + std::string(word);
  }
  return joined;
}

double Rate(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

double PerTransaction(std::uint64_t count, const txn::Figures& figures) {
  return static_cast<double>(count) /
         static_cast<double>(std::max<std::uint64_t>(1, figures.committed));
}

// "NODE@STAGE" or "NODE@STAGE:TIMES", and "NODE@repair" or "NODE@repair:STEP".
Status ParseDeath(std::string_view text, txn::EngineOptions& options) {
  const std::size_t at = text.find('@');
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (at < colon) {
    const std::string_view stage = text.substr(at + 1, colon - at - 1);
    const auto node = ParseNumber<NodeId>(text.substr(0, at));
    const auto times = colon == text.size() ? Result<std::uint32_t>(1)
                                            : ParseNumber<std::uint32_t>(text.substr(colon + 1));
    const bool numbers = node && times && *times > 0;
    if (numbers && stage == "repair") {
      options.death_in_repair = {*node, *times};
      return {};
    }
    for (std::size_t i = 0; i < txn::kNumStages && numbers; ++i) {
      if (txn::StageName(static_cast<txn::Stage>(i)) != stage) continue;
      options.death = {*node, static_cast<txn::Stage>(i), *times};
      return {};
    }
  }
  return UsageError(
      "--die '{}': expected NODE@STAGE or NODE@STAGE:TIMES, as in 1@commit:100, or "
      "NODE@repair:STEP",
      text);
}

// Deleting a vertex writes to all of its neighbours, so transactions on graphs need large logs.
constexpr std::uint64_t kGraphLogBytes = 8 << 20;

Result<txn::EngineOptions> EngineOptionsOf(const TxnOptions& options,
                                           const txn::Protocol& protocol) {
  txn::EngineOptions engine;
  engine.coroutines = options.coroutines;
  engine.cache_bytes = options.cache_bytes;
  engine.replicas = options.replicas;
  engine.table_bytes = options.table_bytes;
  if (txn::RunsOnStore(options.workload)) engine.log_bytes = kGraphLogBytes;
  if (options.log_bytes != 0) engine.log_bytes = options.log_bytes;
  for (const std::string_view death : Split(options.die)) SLIM_TRY(ParseDeath(death, engine));
  engine.mix_stages = options.mix_stages;
  SLIM_ASSIGN(engine.stages,
              txn::StageCode::Parse(options.stages, protocol.name(), protocol.stages()));
  SLIM_TRY(txn::SwitchOff(options.without, engine));
  return engine;
}

constexpr double kFold = 0.25;

std::string StagesHelp() {
  std::string help =
      "a digit for each stage of the protocol, in this order: 0 by messages, 1 one-sided";
  for (const std::string_view name : txn::ProtocolNames()) {
    const auto protocol = txn::MakeProtocol(name);
    help += fmt::format("; {}:", name);
    for (const txn::Stage stage : (*protocol)->stages()) {
      help += fmt::format(" {}", txn::StageName(stage));
    }
  }
  return help +
         ". Or a name: rpc (all by messages), one-sided, tcp (all by messages over TCP); for occ "
         "also "
         "farm, drtm-r, fasst, drtm-h, which are published systems";
}

bool ChangesAGraph(const TxnOptions& options) {
  return txn::RunsOnStore(options.workload) || options.workload == "graph-append";
}

}  // namespace

void DeclareTxnOptions(Options& options, TxnOptions& txn) {
  const std::string workloads = Join(txn::WorkloadNames(), "|");
  const std::string protocols = Join(txn::ProtocolNames(), "|");
  options.Text("--workload", workloads.c_str(), "the transactions", txn.workload).Required();
  options.Text("--protocol", protocols.c_str(), "the concurrency control", txn.protocol)
      .Default(kUsualProtocol);
  options.Text("--stages", "CODE", StagesHelp().c_str(), txn.stages);
  options.Number("--coroutines", "K", "concurrent transactions of each thread", txn.coroutines);
  options.Number("--replicas", "R",
                 "nodes that hold each partition: R-1 of them (not node 0) may die", txn.replicas);
  options
      .Value("--log-memory", "BYTES",
             "size of each thread's log on each node that holds copies of what it writes; a "
             "transaction may use a quarter of it",
             [&txn](const std::string& text) -> Status {
               SLIM_ASSIGN(txn.log_bytes, ParseBytes(text));
               return txn::CheckLogBytes(txn.log_bytes);
             })
      .Default("256K, on stores 8M")
      .Shown(ShownAs::kBytes, std::nullopt);
  options
      .Text("--die", "NODE@STAGE:N",
            "an experiment: the node dies at the end of its Nth run of that stage; with "
            "',NODE@repair:K' another node dies in the Kth step of the repair",
            txn.die)
      .Default("none dies");
  options.Number("--seconds", "D", "how long to run", txn.drive.seconds);
  options.Number("--qps", "Q", "transactions per second that are offered", txn.drive.per_second)
      .Default("no limit");
  options
      .Number("--transactions", "N", "end after N transactions of each coroutine",
              txn.drive.transactions)
      .Default("no limit");
  options
      .Number("--rows", "R",
              "the total number of accounts, rows, warehouses or lists; on a store, for how many "
              "added or changed edges there is room before the tables grow",
              txn.work.rows)
      .Default("the workload's own number");
  options
      .Number("--hot", "P", "the share of accesses to the hot area; in tpcc, to other warehouses",
              txn.work.hot)
      .Default("the workload's own share");
  options
      .Text("--store", "STORE",
            "the graph for linkbench, tao, snb-updates, graph-churn and edge-updates",
            txn.work.store)
      .Default("no store");
  options
      .Number("--fold", "SHARE",
              "on graphs: fold changes into the sorted lists when they use more than this share "
              "of the lists' memory; 0: never",
              txn.fold)
      .Default(fmt::format("{}", kFold));
  options.Number("--compute-us", "US",
                 "how long each ycsb transaction computes while its reads are in flight",
                 txn.work.compute_us);
  options.Number("--seed", "S", "seed of all random choices", txn.work.seed);
  options
      .Text("--without", "LIST",
            "optimisations to switch off: outstanding,doorbells,passive,speculation,cache",
            txn.without)
      .Default("none");
  options.Bytes("--location-cache", "memory of each thread to cache locations of tuples",
                txn.cache_bytes);
  options
      .Bytes("--table-memory",
             "the most that a node's tables grow to; transactions that need more are refused",
             txn.table_bytes)
      .Default("what the node has")
      .Shown(ShownAs::kBytes, std::nullopt);
  options.Number("--delay-us", "US", "delay everything that nodes send to each other by this time",
                 txn.delay_us);
  DeclareJobOptions(options, txn.job);
}

Status CheckTxnOptions(TxnOptions& options) {
  if (options.protocol.empty()) {
    options.protocol = kUsualProtocol;
    options.protocol_chosen = true;
  }
  SLIM_TRY(txn::MakeWorkload(options.workload, options.work));
  SLIM_ASSIGN(const auto protocol, txn::MakeProtocol(options.protocol));
  if (options.stages == "tcp") {
    if (!options.job.transport.empty() && options.job.transport != "tcp") {
      return UsageError("--stages tcp needs --transport tcp, not {}", options.job.transport);
    }
    options.job.transport = "tcp";
    options.stages = "rpc";
  }
  SLIM_TRY(txn::StageCode::Parse(options.stages, protocol->name(), protocol->stages()));
  SLIM_TRY(txn::CheckCoroutines(options.coroutines));
  SLIM_TRY(EngineOptionsOf(options, *protocol));
  if (options.replicas < 1)
    return UsageError("--replicas 0: each partition needs at least one node");
  options.job.survives_deaths = options.replicas > 1;
  if (!(options.drive.seconds > 0)) return UsageError("--seconds must be more than 0");
  const double hot = options.work.hot;
  if (hot != txn::kDefaultShare && !(hot >= 0 && hot <= 1)) {
    return UsageError("--hot is a share from 0 to 1");
  }
  if (options.fold != txn::kDefaultShare && !(options.fold >= 0)) {
    return UsageError("--fold is a share: 0 for never, or more");
  }
  if (options.fold > 0 && !ChangesAGraph(options)) {
    return UsageError("--fold needs a workload on a graph");
  }
  SLIM_TRY(CheckSnapshotOptions(options));
  if (!options.history.empty()) {
    SLIM_ASSIGN(const auto workload, txn::MakeWorkload(options.workload, options.work));
    if (workload->history() == nullptr) {
      return UsageError("--history needs --workload list-append or graph-append, not {}",
                        options.workload);
    }
  }
  return {};
}

Result<std::vector<std::string>> AllStageCodes(const TxnOptions& options) {
  SLIM_ASSIGN(const auto made, txn::MakeProtocol(options.protocol));
  const std::size_t stages = made->stages().size();
  std::vector<std::string> codes;
  for (std::size_t bits = 0; bits < std::size_t{1} << stages; ++bits) {
    std::string& code = codes.emplace_back();
    for (std::size_t i = 0; i < stages; ++i) code += ((bits >> i) & 1) != 0 ? '1' : '0';
    // Without replicas nothing is logged, so the log stage's digit has no effect. Keep only codes
    // in which it equals the digit before.
    const auto log = std::find(made->stages().begin(), made->stages().end(), txn::Stage::kLog);
    if (options.replicas > 1 || log == made->stages().end()) continue;
    const auto at = static_cast<std::size_t>(log - made->stages().begin());
    if (code[at] != code[at - 1]) codes.pop_back();
  }
  return codes;
}

Result<std::unique_ptr<TxnJob>> TxnJob::Load(JobRun& run, const TxnOptions& options) {
  const std::uint64_t start_ns = NowNs();
  if (options.protocol_chosen && run.cluster.self() == 0) {
    std::fputs(
        fmt::format("slimgraph: {} is taken, because --protocol is not given\n", options.protocol)
            .c_str(),
        stderr);
  }
  std::unique_ptr<TxnJob> job(new TxnJob(run, options));
  SLIM_ASSIGN(job->protocol_, txn::MakeProtocol(options.protocol));
  txn::WorkloadOptions work = options.work;
  work.note_updates = !options.updates.empty();
  work.fold_share = !ChangesAGraph(options)              ? 0
                    : options.fold == txn::kDefaultShare ? kFold
                                                         : options.fold;
  if (options.replicas > 1) work.journal = options.history;
  SLIM_ASSIGN(job->workload_, txn::MakeWorkload(options.workload, work));
  SLIM_ASSIGN(const txn::EngineOptions engine, EngineOptionsOf(options, *job->protocol_));
  Cluster& cluster = run.cluster;
  if (cluster.self() == 0 && !options.durable.empty() && txn::RunsOnStore(options.workload)) {
    SLIM_ASSIGN(job->applied_, txn::ApplyCommitsBefore(options.work.store, options.durable));
  }
  SLIM_ASSIGN(job->engine_, txn::Engine::Make(cluster, *job->protocol_, engine));
  SLIM_TRY(job->workload_->Load(*job->engine_));
  if (!options.durable.empty()) {
    SLIM_TRY(txn::KeepLogs(*job->engine_, *job->workload_, options.durable));
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
  set("/stages", engine_->options().stages.Digits(protocol_->stages()));
  set("/coroutines", std::uint64_t{options_.coroutines});
  set("/seconds", result.seconds);
  set("/replicas", std::uint64_t{options_.replicas});
  if (txn::Durability* const logs = engine_->durability(); logs != nullptr) {
    set("/durable/run", logs->run());
    set("/durable/recovered_transactions", logs->recovered().transactions);
    set("/durable/recovered_records", logs->recovered().records);
    set("/durable/cut_bytes", logs->recovered().cut_bytes);
    set("/durable/syncs_of_node_0", logs->log().syncs());
    set("/durable/checkpoints", result.checkpoints);
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
  return before + deaths +
         fmt::format(
             "{} with {}, stages {}: {} transactions in {}, {} per second\n"
             "aborted: {}{}{}{}; half of the transactions took at most {}, 99 % {}\n",
             options_.workload, options_.protocol,
             engine_->options().stages.Digits(protocol_->stages()), FormatCount(figures.committed),
             FormatSeconds(result.seconds),
             FormatCount(static_cast<std::uint64_t>(Rate(figures.committed, result.seconds))),
             FormatCount(figures.all_aborted()), reasons.empty() ? "" : " (", reasons,
             reasons.empty() ? "" : ")", FormatSeconds(figures.latencies.Percentile(0.5) * 1e-9),
             FormatSeconds(figures.latencies.Percentile(0.99) * 1e-9)) +
         refused;
}

}  // namespace slimgraph
