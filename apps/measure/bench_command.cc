#include "apps/commands.h"

#include <memory>

#include "apps/job/job_command.h"
#include "apps/measure/bench_fabric.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

void SetRows(Report& report, const FabricBenchReport& bench) {
  report.Set("/verified", true);  // the bench verified each operation before measuring it
  for (std::size_t i = 0; i < bench.rows.size(); ++i) {
    const FabricBenchRow& row = bench.rows[i];
    const std::string path = fmt::format("/result/rows/{}", i);
    report.Set(path + "/operation", row.operation);
    report.Set(path + "/bytes", row.bytes);
    report.Set(path + "/latency_us", row.latency_us);
    report.Set(path + "/operations_per_s", row.operations_per_s);
  }
  if (bench.posts_per_doorbell) {
    report.Set("/result/doorbell/operations", std::uint64_t{kDoorbellReads});
    report.Set("/result/doorbell/posts", *bench.posts_per_doorbell);
  }
  for (std::size_t i = 0; i < bench.bars.size(); ++i) {
    const FabricBar& bar = bench.bars[i];
    const std::string path = fmt::format("/result/bars/{}", i);
    report.Set(path + "/claim", bar.claim);
    report.Set(path + "/value", bar.value);
    report.Set(path + "/bound", bar.bound);
    report.Set(path + "/met", bar.met());
  }
}

Status Bench(JobRun& run, const FabricBenchOptions& options) {
  Cluster& cluster = run.cluster;
  if (cluster.topology().nodes() < 2) {
    return UsageError("bench fabric needs two nodes: one asks, the other answers; --nodes 2");
  }
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const FabricBenchReport bench,
              RunFabricBench(cluster.job(), cluster.fabric(), options));
  run.run_s = SecondsSince(start_ns);
  SetRows(run.report, bench);
  run.text += FormatFabricBench(bench);
  return {};
}

}  // namespace

Command BenchFabricCommand() {
  struct State {
    JobOptions job;
    FabricBenchOptions bench;
  };
  const auto state = std::make_shared<State>();
  state->job.nodes_if_alone = 2;
  const auto declare = [state](Options& options) {
    options.Number("--seconds", "S", "time for each row", state->bench.seconds_per_row);
    options
        .Value("--max-bytes", "BYTES", "the largest operation",
               [state](const std::string& text) -> Status {
                 SLIM_ASSIGN(state->bench.max_bytes, ParseBytes(text));
                 state->bench.region_bytes =
                     std::max(state->bench.region_bytes, state->bench.max_bytes);
                 return {};
               })
        .Default(FormatBytes(state->bench.max_bytes))
        .Shown(ShownAs::kBytes, state->bench.max_bytes);
    DeclareJobOptions(options, state->job);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    return RunJob("bench fabric", state->job, arguments,
                  [state](JobRun& job_run) { return Bench(job_run, state->bench); });
  };
  return {"bench fabric", "latency and bandwidth of a transport, and its bars as ratios", declare,
          run};
}

}  // namespace slimgraph
