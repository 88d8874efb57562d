// `slimgraph txn replay`: records the rows that TPC-C accesses, and replays the locks on a
// simulated machine of many cores.
#include "txnlayer/replay/replay.h"

#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "slimgraph/base/units.h"
#include "txnlayer/protocol/make_protocol.h"

namespace slimgraph {
namespace {

constexpr double kMostReplayTimeout = 3600;
constexpr double kMostDelay = 1;

struct ReplayCommandOptions {
  JobOptions job;
  enum class Mix : std::uint8_t { kAll, kNewOrder } mix = Mix::kAll;
  txn::WorkloadOptions work;
  std::uint64_t record = 20'000;
  txn::ReplayOptions replay;
  bool lock_timeout_given = false;
};

Option& Time(Options& options, const char* name, const char* help, double least, double most,
             std::uint64_t& ns, bool* given = nullptr) {
  return options.Value(name, "TIME", help, [=, &ns](const std::string& text) -> Status {
    SLIM_ASSIGN(const double seconds, ParseSeconds(text));
    if (seconds < least || seconds > most) {
      return UsageError("{}: a time from {} to {}", text, FormatSeconds(least),
                        FormatSeconds(most));
    }
    ns = static_cast<std::uint64_t>(seconds * 1e9);
    if (given != nullptr) *given = true;
    return {};
  });
}

void Declare(Options& options, ReplayCommandOptions& state) {
  txn::ReplayOptions& replay = state.replay;
  options.Choice("--workload", "whose transactions are recorded", {"tpcc", "tpcc-neworder"},
                 state.mix);
  options.Number("--rows", "W", "the warehouses that are recorded", state.work.rows, 1, 65'536);
  options.Number("--population", "SHARE",
                 "the share of the standard's customers and items of each warehouse",
                 state.work.population, 0, 1);
  options.Number("--record", "N", "how many transactions are recorded", state.record, 1,
                 100'000'000);
  options.Number("--copies", "K",
                 "replay each recorded warehouse as K warehouses, which share no rows",
                 replay.copies);
  options.Choice("--protocol",
                 "nowait, waitdie, boundedwait: what happens to a request for a lock that another "
                 "transaction holds; to: timestamp ordering",
                 {"nowait", "waitdie", "boundedwait", "to"}, replay.protocol);
  Time(options, "--lock-timeout", "with boundedwait: abort a transaction that has waited this long",
       1e-6, kMostReplayTimeout, replay.lock_timeout_ns, &state.lock_timeout_given)
      .Default("1ms");
  options.Choice("--isolation", "read-committed: only rows that are written are locked",
                 {"serializable", "read-committed"}, state.replay.plan.isolation);
  options.Flag("--no-intentions", "lock rows without intention locks on their part of the table",
               [&replay] { replay.plan.intentions = false; });
  options
      .Number("--escalate", "ROWS",
              "a transaction that accesses more rows of a part of a table locks the part instead",
              replay.plan.escalate)
      .Default("never");
  options.Number("--cores", "N", "cores of the machine: one half servers, one half transactions",
                 replay.cores);
  options.Number("--cores-per-node", "N", "how many of them share a node", replay.cores_per_node);
  options.Flag("--separate-servers",
               "servers are on nodes of their own; otherwise, a node has as many as transactions",
               replay.separate_servers);
  Time(options, "--delay", "delay each message between nodes by this time", 0, kMostDelay,
       replay.costs.delay_ns)
      .Default("0us");
  options.Number("--local-ns", "NS", "a message to a core of the same node takes this time",
                 replay.costs.local_ns);
  options.Number("--remote-ns", "NS", "a message to another node", replay.costs.remote_ns);
  options.Number("--server-ns", "NS", "a server handles a message", replay.costs.server_ns);
  options.Number("--row-ns", "NS", "a transaction reads or writes a row", replay.costs.row_ns);
  options.Number("--send-ns", "NS", "a transaction sends a message without waiting for it",
                 replay.costs.send_ns);
  options.Number("--retry-ns", "NS", "an aborted transaction is retried after a time up to this",
                 replay.costs.retry_ns);
  options.Number("--seconds", "S", "how long to simulate; the first fifth is not measured",
                 replay.seconds);
  options.Number("--seed", "S", "seed of all random choices", state.work.seed);
  options.Flag("--json", "the result as one JSON object", state.job.json);
}

Status Check(const ReplayCommandOptions& state) {
  if (state.lock_timeout_given && state.replay.protocol != txn::ReplayProtocol::kBoundedWait) {
    return UsageError("--lock-timeout is for --protocol boundedwait");
  }
  return txn::CheckReplayOptions(state.replay);
}

// Mean microseconds of a committed transaction.
double Mean(std::uint64_t ns, const txn::ReplayResult& result) {
  return static_cast<double>(ns) * 1e-3 /
         static_cast<double>(std::max<std::uint64_t>(1, result.committed));
}

void SetResult(Report& report, const txn::AccessTrace& trace, const txn::ReplayResult& result) {
  const auto per_s = [&](std::uint64_t count) {
    return static_cast<double>(count) / result.seconds;
  };
  const auto each = [&](std::uint64_t count) {
    return static_cast<double>(count) /
           static_cast<double>(std::max<std::uint64_t>(1, result.committed));
  };
  report.Set("/verified", true);  // Replay() would have failed
  report.Set("/result/warehouses", std::uint64_t{trace.partitions});
  report.Set("/result/simulated_s", result.seconds);
  report.Set("/result/committed", result.committed);
  report.Set("/result/throughput_per_s", per_s(result.committed));
  for (std::size_t kind = 0; kind < trace.kinds.size(); ++kind) {
    report.Set("/result/committed_per_s/" + trace.kinds[kind],
               per_s(result.committed_of_kind[kind]));
  }
  report.Set("/result/requests_per_s", per_s(result.requests));
  const std::uint64_t attempts = std::max<std::uint64_t>(1, result.committed + result.aborted);
  report.Set("/result/abort_rate",
             static_cast<double>(result.aborted) / static_cast<double>(attempts));
  report.Set("/result/aborts_per_s", per_s(result.aborted));
  report.Set("/result/per_transaction/requests", each(result.requests));
  report.Set("/result/per_transaction/intentions", each(result.intention));
  report.Set("/result/per_transaction/waits", each(result.waits));
  report.Set("/result/per_transaction/servers", each(result.servers));
  report.Set("/result/per_transaction/votes", each(result.votes));
  report.Set("/result/mean_us/aborted_attempts", Mean(result.lost_ns, result));
  report.Set("/result/mean_us/locks", Mean(result.lock_ns, result));
  report.Set("/result/mean_us/rows", Mean(result.row_ns, result));
  report.Set("/result/mean_us/vote", Mean(result.vote_ns, result));
  report.Set("/result/mean_us/end", Mean(result.end_ns, result));
  report.Set("/result/latency_us/p50", result.latencies.Percentile(0.5) * 1e-3);
  report.Set("/result/latency_us/p99", result.latencies.Percentile(0.99) * 1e-3);
}

std::string Summary(const ReplayCommandOptions& state, const txn::AccessTrace& trace,
                    const txn::ReplayResult& result) {
  const double requests = static_cast<double>(result.requests);
  const double committed = static_cast<double>(std::max<std::uint64_t>(1, result.committed));
  const double attempts = static_cast<double>(result.committed + result.aborted);
  return fmt::format(
      "{} warehouses on {} simulated cores: {} transactions per second, {} requests of locks per "
      "second\n"
      "each transaction: {:.1f} requests; microseconds: {:.1f} locks, {:.1f} rows, {:.1f} vote, "
      "{:.1f} end, {:.1f} aborted attempts\n"
      "aborted: {:.2f} % of attempts; verified: the order of accesses is serial\n",
      FormatCount(std::uint64_t{trace.partitions} * state.replay.copies),
      FormatCount(state.replay.cores),
      FormatCount(static_cast<std::uint64_t>(committed / result.seconds)),
      FormatCount(static_cast<std::uint64_t>(requests / result.seconds)), requests / committed,
      Mean(result.lock_ns, result), Mean(result.row_ns, result), Mean(result.vote_ns, result),
      Mean(result.end_ns, result), Mean(result.lost_ns, result),
      attempts > 0 ? 100 * static_cast<double>(result.aborted) / attempts : 0);
}

Status ReplayTrace(JobRun& run, const ReplayCommandOptions& state) {
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const auto protocol, txn::MakeProtocol("nowait"));
  txn::EngineOptions engine_options;
  engine_options.stages = txn::StageCode::All(true);
  SLIM_ASSIGN(const auto engine, txn::Engine::Make(run.cluster, *protocol, engine_options));
  const bool all = state.mix == ReplayCommandOptions::Mix::kAll;
  SLIM_ASSIGN(const auto workload, txn::MakeWorkload(all ? "tpcc" : "tpcc-neworder", state.work));
  SLIM_TRY(workload->Load(*engine));
  SLIM_ASSIGN(const txn::AccessTrace trace, txn::RecordAccesses(*engine, *workload, state.record));
  run.load_s = SecondsSince(start_ns);
  const std::uint64_t replay_ns = NowNs();
  txn::ReplayOptions replay = state.replay;
  replay.seed = state.work.seed;
  SLIM_ASSIGN(const txn::ReplayResult result, txn::Replay(trace, replay));
  run.run_s = SecondsSince(replay_ns);
  run.appends_traffic = false;
  SetResult(run.report, trace, result);
  run.text += Summary(state, trace, result);
  return {};
}

}  // namespace

Command TxnReplayCommand() {
  const auto state = std::make_shared<ReplayCommandOptions>();
  state->work.rows = 64;
  state->work.population = 0.1;
  const auto declare = [state](Options& options) { Declare(options, *state); };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (const Status checked = Check(*state); !checked) return PrintError(checked.error());
    return RunJob("txn replay", state->job, arguments,
                  [state](JobRun& job_run) { return ReplayTrace(job_run, *state); });
  };
  return {"txn replay", "the locks of TPC-C on a simulated machine of thousands of cores", declare,
          run};
}

}  // namespace slimgraph
