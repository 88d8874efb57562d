#include "apps/txn/txn_options.h"

#include <algorithm>

#include "apps/job/job_command.h"
#include "apps/txn/analytics.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

constexpr double kMostLockTimeout = 3600;
constexpr double kMostTheta = 0.999;
constexpr std::uint32_t kMostOperations = 100;
constexpr std::uint32_t kMostScanned = 1000;

std::string Join(const std::vector<std::string_view>& words, const char* between) {
  std::string joined;
  for (const std::string_view word : words) {
    joined += (joined.empty() ? "" : between) + std::string(word);
  }
  return joined;
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

// Operations on a graph read several records that must agree, and rely on the absence of others.
Status CheckConcurrency(const TxnOptions& options) {
  const txn::Isolation isolation = options.concurrency.isolation;
  if (isolation != txn::Isolation::kSerializable && txn::ChangesAGraph(options.workload)) {
    return UsageError("--isolation {}: {} works on a graph, whose transactions are serializable",
                      txn::IsolationName(isolation), options.workload);
  }
  if (options.version_bytes != 0 && options.concurrency.timestamps == txn::Timestamps::kNone) {
    return UsageError("--version-memory needs --timestamps");
  }
  if (options.lock_timeout_given && options.protocol != "boundedwait") {
    return UsageError("--lock-timeout is for --protocol boundedwait, not {}", options.protocol);
  }
  return {};
}

// Whether an option of ycsb-a to ycsb-f differs from its default.
bool HasYcsbOptions(const txn::WorkloadOptions& work) {
  const txn::WorkloadOptions usual;
  return work.theta != usual.theta || work.write_share != usual.write_share ||
         work.operations != usual.operations || work.record_bytes != usual.record_bytes ||
         work.scan_length != usual.scan_length || work.lookup != usual.lookup;
}

// If the number of transactions does not depend on how many coroutines take turns.
bool FindsCoroutines(const TxnOptions& options) {
  return !options.coroutines && options.drive.transactions == 0 && options.drive.per_second == 0;
}

}  // namespace

std::uint32_t CoroutinesOf(const TxnOptions& options) {
  if (options.coroutines) return *options.coroutines;
  return FindsCoroutines(options) ? txn::kMostFoundCoroutines : kUsualCoroutines;
}

Result<txn::EngineOptions> EngineOptionsOf(const TxnOptions& options,
                                           const txn::Protocol& protocol) {
  txn::EngineOptions engine;
  engine.coroutines = CoroutinesOf(options);
  engine.most_coroutines = options.most_coroutines;
  engine.cache_bytes = options.cache_bytes;
  engine.replicas = options.replicas;
  engine.table_bytes = options.table_bytes;
  engine.version_bytes = options.version_bytes;
  if (txn::RunsOnStore(options.workload)) engine.log_bytes = kGraphLogBytes;
  if (options.log_bytes != 0) engine.log_bytes = options.log_bytes;
  engine.ledger = options.ledger;
  engine.ledger.ring_bytes = std::max(engine.ledger.ring_bytes, engine.log_bytes);
  if (options.log_bytes != 0) engine.ledger.ring_bytes = options.log_bytes;
  for (const std::string_view death : Split(options.die)) SLIM_TRY(ParseDeath(death, engine));
  engine.mix_stages = options.mix_stages;
  SLIM_ASSIGN(engine.stages,
              txn::StageCode::Parse(options.stages, protocol.name(), protocol.stages()));
  if (options.work.lookup == txn::Lookup::kTree) {
    if (options.mix_stages || engine.stages != txn::StageCode::All(/*one_sided=*/false)) {
      return UsageError(
          "--lookup tree is for --stages rpc or tcp alone: nodes search their own trees");
    }
    engine.cache_bytes = 0;
  }
  SLIM_TRY(txn::SwitchOff(options.without, engine));
  return engine;
}

Result<std::unique_ptr<txn::Protocol>> ProtocolOf(const TxnOptions& options) {
  return txn::MakeProtocol(options.protocol, options.concurrency);
}

void DeclareTxnOptions(Options& options, TxnOptions& txn, StagesAre stages) {
  const std::string workloads = Join(txn::WorkloadNames(), "|");
  const std::string protocols = Join(txn::ProtocolNames(), "|");
  options.Text("--workload", workloads.c_str(), "the transactions", txn.workload).Required();
  options.Text("--protocol", protocols.c_str(), "the concurrency control", txn.protocol)
      .Default(kUsualProtocol);
  options.Choice(
      "--isolation",
      "what transactions may see of each other: serializable; repeatable-read, keys that "
      "a transaction has found absent may appear; read-committed, records may change "
      "after a transaction has read them. Only with nowait, waitdie and boundedwait",
      {"serializable", "repeatable-read", "read-committed"}, txn.concurrency.isolation);
  options.Choice("--timestamps",
                 "none: transactions that only read run like all others. dst: they read the state "
                 "of one moment, at most as old as the nodes' clocks differ, without locks and "
                 "aborts. global, vector: the same with times from counters on node 0, for "
                 "comparison. With nowait, waitdie, boundedwait and occ; dst also with mvcc",
                 {"none", "dst", "global", "vector"}, txn.concurrency.timestamps);
  options
      .Value("--lock-timeout", "TIME",
             "with boundedwait: abort a transaction that has waited for a lock for this time",
             [&txn](const std::string& text) -> Status {
               SLIM_ASSIGN(const double seconds, ParseSeconds(text));
               if (seconds < 1e-6 || seconds > kMostLockTimeout) {
                 return UsageError("--lock-timeout {}: a time from 1us to 1h", text);
               }
               txn.concurrency.lock_timeout_ns = static_cast<std::uint64_t>(seconds * 1e9);
               txn.lock_timeout_given = true;
               return {};
             })
      .Default("10ms");
  if (stages == StagesAre::kGiven) {
    options.Text("--stages", "CODE", StagesHelp().c_str(), txn.stages);
  }
  options
      .Value("--coroutines", "K|auto",
             "concurrent transactions of each thread. auto: each thread tries several numbers and "
             "takes the smallest that is almost as fast as any; with --transactions or --qps, 8",
             [&txn](const std::string& text) -> Status {
               txn.coroutines.reset();
               if (text == "auto") return {};
               SLIM_ASSIGN(txn.coroutines, ParseNumber<std::uint32_t>(text));
               return txn::CheckCoroutines(*txn.coroutines);
             })
      .Default("auto")
      .Shown(ShownAs::kNumber, "auto");
  options.Number("--replicas", "R",
                 "nodes that hold each partition: R-1 of them (not node 0) may die", txn.replicas);
  options
      .Value("--log-memory", "BYTES",
             "size of each thread's log on each node that holds copies of what it writes, or its "
             "commits (--commit-log remote); a transaction may use a quarter of it",
             [&txn](const std::string& text) -> Status {
               SLIM_ASSIGN(txn.log_bytes, ParseBytes(text));
               return txn::CheckLogBytes(txn.log_bytes);
             })
      .Default("256K, for commits 1M, on stores 8M")
      .Shown(ShownAs::kBytes, std::nullopt);
  options
      .Value("--version-memory", "BYTES",
             "with --timestamps, the room of each thread on each node for versions that were "
             "replaced and that a transaction may still read",
             [&txn](const std::string& text) -> Status {
               SLIM_ASSIGN(txn.version_bytes, ParseBytes(text));
               return txn::CheckVersionBytes(txn.version_bytes);
             })
      .Default("16M, over verbs 256K")
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
  options.Number("--population", "SHARE",
                 "in tpcc, the share of the standard's customers and items of each warehouse",
                 txn.work.population, 0, 1);
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
      .Default(fmt::format("{}", kUsualFold));
  options.Number("--compute-us", "US",
                 "how long each ycsb transaction computes while its reads are in flight",
                 txn.work.compute_us);
  options.Number("--theta", "T", "in ycsb-a to -f, the skew of Zipf's distribution; 0: none",
                 txn.work.theta, 0, kMostTheta);
  options
      .Number("--writes", "SHARE", "in ycsb-a to -f, the share of operations that write",
              txn.work.write_share, 0, 1)
      .Default("the workload's own share");
  options.Number("--operations", "K", "in ycsb-a to -f, operations of a transaction",
                 txn.work.operations, 1, kMostOperations);
  options.Number("--record-bytes", "B", "in ycsb-a to -f, the size of a record",
                 txn.work.record_bytes, 8, txn::kMaxRecordBytes);
  options.Number("--scan-length", "L", "in ycsb-e, the most records of a scan",
                 txn.work.scan_length, 1, kMostScanned);
  options.Choice(
      "--lookup",
      "in ycsb-a to -f, how to find a record. hash: its place follows from its key. "
      "leaf: by way of the ordered leaves. tree: its node walks a tree for each message, "
      "and locations are not cached, for comparison; only with --stages rpc or tcp",
      {"hash", "leaf", "tree"}, txn.work.lookup);
  options.Number("--seed", "S", "seed of all random choices", txn.work.seed);
  options
      .Text("--without", "LIST",
            "optimisations to switch off: "
            "outstanding,doorbells,passive,speculation,cache,own-home",
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

namespace {

Status CheckLedgerOptions(const TxnOptions& options) {
  if (!options.ledger.remote) {
    const bool aligns = options.ledger.align != txn::LedgerAlign::kAuto;
    if (options.ledger.flush == FlushBy::kHome && !aligns) return {};
    return UsageError("{} is for --commit-log remote", aligns ? "--align-commits" : "--flush");
  }
  if (options.durable.empty()) return UsageError("--commit-log remote needs --durable DIR");
  if (options.replicas > 1) {
    return UsageError(
        "--commit-log remote is for --replicas 1: with the node that keeps them, commits would be "
        "lost to the survivors");
  }
  return {};
}

}  // namespace

Status CheckTxnOptions(TxnOptions& options) {
  if (options.protocol.empty()) {
    options.protocol = kUsualProtocol;
    options.protocol_chosen = true;
  }
  SLIM_TRY(txn::MakeWorkload(options.workload, options.work));
  SLIM_ASSIGN(const auto protocol, ProtocolOf(options));
  SLIM_TRY(CheckConcurrency(options));
  if (options.stages == "tcp") {
    if (!options.job.transport.empty() && options.job.transport != "tcp") {
      return UsageError("--stages tcp needs --transport tcp, not {}", options.job.transport);
    }
    options.job.transport = "tcp";
    options.stages = "rpc";
  }
  SLIM_TRY(txn::StageCode::Parse(options.stages, protocol->name(), protocol->stages()));
  options.drive.finds_coroutines = FindsCoroutines(options);
  SLIM_TRY(EngineOptionsOf(options, *protocol));
  if (options.replicas < 1)
    return UsageError("--replicas 0: each partition needs at least one node");
  options.job.survives_deaths = options.replicas > 1;
  if (!(options.drive.seconds > 0)) return UsageError("--seconds must be more than 0");
  const double hot = options.work.hot;
  if (hot != txn::kDefaultShare && !(hot >= 0 && hot <= 1)) {
    return UsageError("--hot is a share from 0 to 1");
  }
  if (!options.workload.starts_with("ycsb-") && HasYcsbOptions(options.work)) {
    return UsageError(
        "--theta, --writes, --operations, --record-bytes, --scan-length and --lookup are for "
        "ycsb-a to ycsb-f, not {}",
        options.workload);
  }
  if (options.fold != txn::kDefaultShare && !(options.fold >= 0)) {
    return UsageError("--fold is a share: 0 for never, or more");
  }
  if (options.fold > 0 && !txn::ChangesAGraph(options.workload)) {
    return UsageError("--fold needs a workload on a graph");
  }
  SLIM_TRY(CheckLedgerOptions(options));
  SLIM_TRY(CheckSnapshotOptions(options));
  if (!options.history.empty()) {
    SLIM_ASSIGN(const auto workload, txn::MakeWorkload(options.workload, options.work));
    if (workload->history() == nullptr) {
      return UsageError(
          "--history needs --workload list-append, graph-append or index-append, not {}",
          options.workload);
    }
  }
  return {};
}

Result<std::vector<std::string>> AllStageCodes(const TxnOptions& options) {
  SLIM_ASSIGN(const auto made, ProtocolOf(options));
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

}  // namespace slimgraph
