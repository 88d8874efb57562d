// `slimgraph local`: the triangles at each vertex, or its clustering coefficient. `slimgraph lcc`
// is the latter by the name that LDBC Graphalytics gives it.
#include "dkudu/local.h"

#include "apps/commands.h"
#include "apps/mining/mining_command.h"
#include "apps/output/value_file.h"
#include "dkudu/serial.h"

namespace slimgraph {
namespace {

struct LocalState {
  MiningCommandOptions common;
  bool clustering = false;
  bool verify = false;
  std::string output;
};

// The memory that node 0 takes to verify the result: the lists of the graph, and its neighbours in
// vectors of their own.
std::uint64_t VerificationBytes(const dkudu::MiningGraph& graph) {
  constexpr std::uint64_t kVertexBytes = 2 * sizeof(std::vector<VertexId>) + 32;
  return graph.vertices() * kVertexBytes + 4 * graph.arcs() * sizeof(VertexId);
}

Status VerifyLocal(const GraphSource& file, const dkudu::LocalCounts& counts,
                   const OriginalIds& ids) {
  SLIM_ASSIGN(const Csr lists, ReadCsr(file));
  const auto expected = dkudu::serial::Local(lists, file.directed());
  return counts.ForEach(ids, [&](VertexId v, const dkudu::LocalFigures& figures) -> Status {
    if (figures == expected[v]) return {};
    return VerificationError(
        "vertex {} (counted from 0) has {} neighbours with {} arcs among them, and should have {} "
        "with {}",
        v, figures.degree, figures.arcs, expected[v].degree, expected[v].arcs);
  });
}

// On node 0, after the counts: writes the output and reports sums.
Status FinishLocal(const LocalState& state, JobRun& run, const GraphSource& file,
                   const dkudu::LocalCounts& counts, std::unique_ptr<ValueFile> lines) {
  SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
  unsigned __int128 arcs = 0;
  double coefficients = 0;
  const auto visit = [&](VertexId v, const dkudu::LocalFigures& figures) -> Status {
    arcs += figures.arcs;
    coefficients += figures.clustering();
    if (!lines) return {};
    return lines->Add(ids[v], state.clustering ? fmt::format("{}", figures.clustering())
                                               : fmt::format("{}", figures.triangles()));
  };
  SLIM_TRY(counts.ForEach(ids, visit));
  const double mean = coefficients / file.vertices();
  if (lines) {
    SLIM_TRY(lines->Finish());
    run.report.Set("/result/output", state.output);
    run.text += fmt::format("{} of each vertex: {}\n",
                            state.clustering ? "the clustering coefficient" : "the triangles",
                            state.output);
  }
  if (!file.directed()) {
    SLIM_ASSIGN(const std::uint64_t triangles, dkudu::Narrow(arcs / 6, "triangles"));
    run.report.Set("/result/count", triangles);
    run.text += fmt::format("triangles: {}\n", triangles);
  }
  run.report.Set("/result/mean_clustering", mean);
  run.text += fmt::format("mean clustering: {:.6f}\n", mean);
  if (!state.verify) return {};
  SLIM_TRY(VerifyLocal(file, counts, ids));
  run.report.Set("/verified", true);
  run.text += "the result equals that of a serial computation\n";
  return {};
}

Status RunLocal(const LocalState& state, JobRun& run) {
  std::unique_ptr<ValueFile> lines;  // opened first, so that a wrong path costs no computation
  if (run.cluster.self() == 0 && !state.output.empty()) {
    SLIM_ASSIGN(lines, ValueFile::Create(state.output));
    run.text_to_stderr = IsStandardOutput(state.output);
  }
  std::optional<dkudu::LocalCounts> counts;
  const auto count = [&](JobRun&, const GraphSource&, dkudu::MiningJob& job) -> Status {
    SLIM_ASSIGN(counts, dkudu::CountLocal(job));
    return {};
  };
  const auto finish = [&](JobRun& mining_run, const GraphSource& file, dkudu::MiningJob&) {
    return FinishLocal(state, mining_run, file, *counts, std::move(lines));
  };
  const auto bytes = [&](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& mining) {
    const bool verifies = state.verify && graph.self() == 0;
    return dkudu::LocalBytes(graph, mining) + (verifies ? VerificationBytes(graph) : 0) +
           ValueFile::MemoryBytes(state.output, graph.vertices());
  };
  const auto part = state.clustering ? dkudu::ListPart::kArcs : dkudu::ListPart::kAll;
  return RunMiningJob(run, state.common, part, bytes, count, finish);
}

void DeclareVerify(Options& options, LocalState& state) {
  options.Flag("--verify", "compare the result with that of a serial computation", state.verify);
  state.common.prints_ids = true;
  DeclareMiningOptions(options, state.common);
}

Option& DeclareOutput(Options& options, LocalState& state) {
  return options.Text(
      "-o,--output", "FILE",
      "a line 'id value' for each vertex; FILE.csv: 'id,value'; FILE.npy: records for NumPy; "
      "-: standard output",
      state.output);
}

Command MakeLocalCommand(const char* name, const char* summary,
                         const std::function<void(Options&, LocalState&)>& declare_own,
                         std::vector<std::string> aliases) {
  const auto state = std::make_shared<LocalState>();
  const auto declare = [state, declare_own](Options& options) {
    declare_own(options, *state);
    DeclareVerify(options, *state);
  };
  const auto run = [state, name](const std::vector<std::string>& arguments) {
    const Status output = CheckOutput(state->output, state->common.job.json);
    if (!output) return PrintError(output.error());
    return RunMiningCommand(name, state->common, arguments,
                            [state](JobRun& job_run) { return RunLocal(*state, job_run); });
  };
  return {name, summary, declare, run, std::move(aliases)};
}

}  // namespace

Command LocalCommand() {
  const auto declare = [](Options& options, LocalState& state) {
    Option& triangles = options.Flag("--triangles", "how many triangles each vertex is in", [] {});
    Option& clustering =
        options.Flag("--clustering", "which share of its pairs of neighbours is adjacent (as lcc)",
                     state.clustering);
    options.RequireOne(triangles, clustering);
    DeclareOutput(options, state).Required();
  };
  return MakeLocalCommand("local", "the triangles at each vertex, or its clustering coefficient",
                          declare, {"local-triangles"});
}

Command LccCommand() {
  const auto declare = [](Options& options, LocalState& state) {
    state.clustering = true;
    state.common.directed = true;
    DeclareOutput(options, state).Default("no file");
  };
  return MakeLocalCommand("lcc", "the local clustering coefficient of each vertex", declare,
                          {"clustering"});
}

}  // namespace slimgraph
