#include "apps/txn_job.h"

#include <algorithm>

#include "apps/job_command.h"
#include "apps/txn_analytics.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"
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

// Whoever deletes a vertex writes to all of its neighbours.
constexpr std::uint64_t kGraphLogBytes = 8 << 20;

Result<txn::EngineOptions> EngineOptionsOf(const TxnOptions& options,
                                           const txn::Protocol& protocol) {
  txn::EngineOptions engine;
  engine.coroutines = options.coroutines;
  engine.cache_bytes = options.cache_bytes;
  engine.replicas = options.replicas;
  if (txn::RunsOnStore(options.workload)) engine.log_bytes = kGraphLogBytes;
  if (options.log_bytes != 0) engine.log_bytes = options.log_bytes;
  for (std::string_view rest = options.die; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    SLIM_TRY(ParseDeath(rest.substr(0, comma), engine));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  engine.mix_stages = options.mix_stages;
  SLIM_ASSIGN(engine.stages,
              txn::StageCode::Parse(options.stages, protocol.name(), protocol.stages()));
  SLIM_TRY(txn::SwitchOff(options.without, engine));
  return engine;
}

constexpr double kFold = 0.25;

bool ChangesAGraph(const TxnOptions& options) {
  return txn::RunsOnStore(options.workload) || options.workload == "graph-append";
}

}  // namespace

void DeclareTxnOptions(Options& options, TxnOptions& txn) {
  const std::string workloads = Join(txn::WorkloadNames(), "|");
  const std::string protocols = Join(txn::ProtocolNames(), "|");
  options.Text("--workload", workloads.c_str(), "the transactions", txn.workload);
  options.Text("--protocol", protocols.c_str(), "how conflicts are kept apart", txn.protocol);
  options.Text("--stages", "CODE",
               "a digit for each stage of the protocol, 0 by messages, 1 one-sided; or rpc, "
               "one-sided, tcp; or farm, drtm-r, fasst, drtm-h for occ (default one-sided)",
               txn.stages);
  options.Number("--coroutines", "K", "transactions of each thread at a time (default 8)",
                 txn.coroutines);
  options.Number("--replicas", "R",
                 "nodes that hold each partition: R-1 of them (not node 0) may die (default 1)",
                 txn.replicas);
  options.Value("--log-memory", "BYTES",
                "of the log that each thread has on each node that holds copies of what it writes; "
                "one transaction takes a quarter at most (default 256K, on stores 8M)",
                [&txn](const std::string& text) -> Status {
                  SLIM_ASSIGN(txn.log_bytes, ParseBytes(text));
                  return txn::CheckLogBytes(txn.log_bytes);
                });
  options.Text(
      "--die", "NODE@STAGE:N",
      "an experiment: the node dies when it comes to the end of that stage for the Nth time; with "
      "',NODE@repair:K' another dies in the Kth step of what the survivors then do",
      txn.die);
  options.Number("--seconds", "D", "how long (default 1)", txn.drive.seconds);
  options.Number("--qps", "Q", "transactions per second that are offered (default: no limit)",
                 txn.drive.per_second);
  options.Number("--transactions", "N", "at most so many of each coroutine",
                 txn.drive.transactions);
  options.Number("--rows", "R",
                 "accounts, rows, warehouses or lists, all together; on a store, how many edges "
                 "there is room for to add or change",
                 txn.work.rows);
  options.Number("--hot", "P", "the share of accesses to the hot area, in tpcc to other warehouses",
                 txn.work.hot);
  options.Text("--store", "STORE",
               "the graph of linkbench, tao, snb-updates, graph-churn and edge-updates",
               txn.work.store);
  options.Number(
      "--fold", "SHARE",
      "on graphs: changes are folded into the sorted lists when they take more memory than "
      "so much of these (default 0.25); 0: never",
      txn.fold);
  options.Number("--compute-us", "US",
                 "what each ycsb transaction computes, while its reads are on their way",
                 txn.work.compute_us);
  options.Number("--seed", "S", "of all random choices (default 1)", txn.work.seed);
  options.Text("--without", "LIST",
               "optimisations to switch off: outstanding,doorbells,passive,speculation,cache",
               txn.without);
  options.Value("--location-cache", "BYTES", "room for locations in each thread (default 4M)",
                [&txn](const std::string& text) -> Status {
                  SLIM_ASSIGN(txn.cache_bytes, ParseBytes(text));
                  return {};
                });
  options.Number("--delay-us", "US", "all that crosses between nodes takes so much longer",
                 txn.delay_us);
  DeclareJobOptions(options, txn.job);
}

Status CheckTxnOptions(TxnOptions& options) {
  if (options.workload.empty()) {
    return UsageError("--workload is needed: {}", Join(txn::WorkloadNames(), ", "));
  }
  if (options.protocol.empty()) {
    return UsageError("--protocol is needed: {}", Join(txn::ProtocolNames(), ", "));
  }
  SLIM_TRY(txn::MakeWorkload(options.workload, options.work));
  SLIM_ASSIGN(const auto protocol, txn::MakeProtocol(options.protocol));
  if (options.stages == "tcp") {
    if (!options.job.transport.empty() && options.job.transport != "tcp") {
      return UsageError("--stages tcp goes over tcp, and --transport is {}", options.job.transport);
    }
    options.job.transport = "tcp";
    options.stages = "rpc";
  }
  SLIM_TRY(txn::StageCode::Parse(options.stages, protocol->name(), protocol->stages()));
  SLIM_TRY(txn::CheckCoroutines(options.coroutines));
  SLIM_TRY(EngineOptionsOf(options, *protocol));
  if (options.replicas < 1)
    return UsageError("--replicas 0: each partition lies on one node at least");
  options.job.survives_deaths = options.replicas > 1;
  if (!(options.drive.seconds > 0)) return UsageError("--seconds must be more than 0");
  const double hot = options.work.hot;
  if (hot != txn::kUsual && !(hot >= 0 && hot <= 1)) {
    return UsageError("--hot is a share from 0 to 1");
  }
  if (options.fold != txn::kUsual && !(options.fold >= 0)) {
    return UsageError("--fold is a share: 0 for never, or more");
  }
  if (options.fold > 0 && !ChangesAGraph(options)) {
    return UsageError("--fold cannot be: --workload is none on a graph");
  }
  SLIM_TRY(CheckSnapshotOptions(options));
  if (!options.history.empty()) {
    SLIM_ASSIGN(const auto workload, txn::MakeWorkload(options.workload, options.work));
    if (workload->history() == nullptr) {
      return UsageError("--history is of --workload list-append and graph-append, and this is {}",
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
    // Where nothing is logged, it makes no difference how: as the stage before.
    const auto log = std::find(made->stages().begin(), made->stages().end(), txn::Stage::kLog);
    if (options.replicas > 1 || log == made->stages().end()) continue;
    const auto at = static_cast<std::size_t>(log - made->stages().begin());
    if (code[at] != code[at - 1]) codes.pop_back();
  }
  return codes;
}

Result<std::unique_ptr<TxnJob>> TxnJob::Load(Run& run, const TxnOptions& options) {
  const std::uint64_t start_ns = NowNs();
  std::unique_ptr<TxnJob> job(new TxnJob(run, options));
  SLIM_ASSIGN(job->protocol_, txn::MakeProtocol(options.protocol));
  txn::WorkloadOptions work = options.work;
  work.note_updates = !options.updates.empty();
  work.fold_share = !ChangesAGraph(options)       ? 0
                    : options.fold == txn::kUsual ? kFold
                                                  : options.fold;
  if (options.replicas > 1) work.journal = options.history;
  SLIM_ASSIGN(job->workload_, txn::MakeWorkload(options.workload, work));
  SLIM_ASSIGN(const txn::EngineOptions engine, EngineOptionsOf(options, *job->protocol_));
  Cluster& cluster = run.cluster;
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
  const std::vector<std::uint64_t> my_numbers = mine.Numbers();
  SLIM_ASSIGN(const auto all, cluster.all().AllGather(std::as_bytes(std::span(my_numbers))));
  traffic_ = Traffic(cluster.topology().nodes());
  for (const auto& theirs : all) {
    std::vector<std::uint64_t> numbers(theirs.size() / sizeof(std::uint64_t));
    if (!numbers.empty()) std::memcpy(numbers.data(), theirs.data(), theirs.size());
    traffic_.Add(numbers);
  }
  return result;
}

void TxnJob::Describe(const txn::DriveResult& result, Report& report,
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
  set("/most_tries", figures.most_tries);
  for (const auto& [what, count] : workload_->Counts()) {
    report.Set(fmt::format("{}/operations/{}", path, what), count);
  }
  const TrafficCount total = traffic_.Total();
  const std::uint64_t messages = traffic_.OfKind(TrafficKind::kMessage).operations;
  for (const auto& [what, bytes] : workload_->Memory()) {
    report.Set(fmt::format("{}/memory_bytes/{}", path, what), bytes);
  }
  if (txn::TransactionalGraph* const graph = workload_->graph();
      graph != nullptr && graph->folder() != nullptr) {
    const txn::Folder::Figures& folding = graph->folder()->figures();
    set("/folding/folds", folding.folds);
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

std::string TxnJob::InWords(const txn::DriveResult& result) const {
  const txn::Figures& figures = result.figures;
  std::string reasons;
  for (std::size_t i = 1; i < txn::kNumAbortReasons; ++i) {
    if (figures.aborted[i] == 0) continue;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", FormatCount(figures.aborted[i]),
                           txn::AbortReasonName(static_cast<txn::AbortReason>(i)));
  }
  std::string before;
  if (txn::Durability* const logs = engine_->durability(); logs != nullptr && logs->run() > 1) {
    const txn::Recovered& back = logs->recovered();
    before = fmt::format(
        "recovered {} records from {}, and with them {} transactions of the last run{}\n",
        FormatCount(back.records), options_.durable, FormatCount(back.transactions),
        back.cut_bytes == 0 ? "" : fmt::format("; {} torn bytes were cut off", back.cut_bytes));
  }
  std::string deaths;
  for (const NodeId node : result.lost) deaths += fmt::format("node {} has died; ", node);
  if (!deaths.empty()) {
    deaths += fmt::format("its data was rebuilt in {}\n", FormatSeconds(result.repair_s));
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
             FormatSeconds(figures.latencies.Percentile(0.99) * 1e-9));
}

}  // namespace slimgraph
