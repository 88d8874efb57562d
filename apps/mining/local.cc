// `slimgraph local`: the triangles at each vertex, or its clustering coefficient.
#include "dkudu/local.h"

#include "apps/commands.h"
#include "apps/mining/mining_command.h"
#include "apps/output/value_file.h"

namespace slimgraph {
namespace {

struct LocalState {
  MiningCommandOptions common;
  bool clustering = false;
  std::string output;
};

Status WriteLocal(const LocalState& state, JobRun& run, const GraphSource& file,
                  dkudu::MiningJob& job) {
  std::unique_ptr<ValueFile> lines;
  OriginalIds ids;
  if (run.cluster.self() == 0) {
    SLIM_ASSIGN(lines, ValueFile::Create(state.output));
    run.text_to_stderr = IsStandardOutput(state.output);
    SLIM_ASSIGN(ids, file.ReadOriginalIds());
  }
  unsigned __int128 corners = 0;
  double coefficients = 0;
  const auto visit = [&](std::uint64_t id, const dkudu::LocalFigures& figures) -> Status {
    corners += figures.triangles;
    coefficients += figures.clustering();
    return lines->Add(id, state.clustering ? fmt::format("{}", figures.clustering())
                                           : fmt::format("{}", figures.triangles));
  };
  SLIM_TRY(dkudu::ForEachLocal(job, ids, visit));
  if (run.cluster.self() != 0) return {};
  SLIM_TRY(lines->Finish());
  SLIM_ASSIGN(const std::uint64_t triangles, dkudu::Narrow(corners / 3, "triangles"));
  const double mean = coefficients / file.vertices();
  run.report.Set("/result/count", triangles);
  run.report.Set("/result/mean_clustering", mean);
  run.report.Set("/result/output", state.output);
  run.text += fmt::format("{} of each vertex: {}\ntriangles: {}\nmean clustering: {:.6f}\n",
                          state.clustering ? "the clustering coefficient" : "the triangles",
                          state.output, triangles, mean);
  return {};
}

}  // namespace

Command LocalCommand() {
  const auto state = std::make_shared<LocalState>();
  const auto declare = [state](Options& options) {
    Option& triangles = options.Flag("--triangles", "how many triangles each vertex is in", [] {});
    Option& clustering = options.Flag(
        "--clustering", "which share of its pairs of neighbours is adjacent", state->clustering);
    options.RequireOne(triangles, clustering);
    options
        .Text(
            "-o,--output", "FILE",
            "a line 'id value' for each vertex; FILE.csv: 'id,value'; FILE.npy: records for NumPy; "
            "-: standard output",
            state->output)
        .Required();
    state->common.prints_ids = true;
    DeclareMiningOptions(options, state->common);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    const Status output = CheckOutput(state->output, state->common.job.json);
    if (!output) return PrintError(output.error());
    return RunMiningCommand("local", state->common, arguments, [state](JobRun& job_run) {
      const auto work = [&](JobRun& mining_run, const GraphSource& file, dkudu::MiningJob& job) {
        return WriteLocal(*state, mining_run, file, job);
      };
      const auto bytes = [&](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& options) {
        return dkudu::LocalBytes(graph, options) +
               ValueFile::MemoryBytes(state->output, graph.vertices());
      };
      return RunMiningJob(job_run, state->common, dkudu::ListPart::kAll, bytes, work);
    });
  };
  return {"local",
          "the triangles at each vertex, or its clustering coefficient",
          declare,
          run,
          {"clustering", "local-triangles"}};
}

}  // namespace slimgraph
