// `slimgraph local`: the triangles at each vertex, or its clustering coefficient. `slimgraph lcc`
// is the latter by the name that LDBC Graphalytics gives it.
#include "dkudu/local.h"

#include "apps/commands.h"
#include "apps/mining/mining_command.h"
#include "dkudu/serial.h"
#include "slimgraph/base/atomic_file.h"

namespace slimgraph {
namespace {

struct LocalState {
  MiningCommandOptions common;
  bool clustering = false;
  bool verify = false;
  std::string output;
};

// Collects lines of text and writes them to a file in large blocks.
class Lines {
 public:
  explicit Lines(AtomicFile file) : file_(std::move(file)) {}

  Status Add(std::string_view line) {
    text_ += line;
    return text_.size() < kBlockBytes ? Status{} : Write();
  }
  Status Finish() {
    SLIM_TRY(Write());
    return file_.Commit();
  }

 private:
  static constexpr std::size_t kBlockBytes = 1 << 20;
  Status Write() {
    SLIM_TRY(file_.WriteAt(offset_, std::as_bytes(std::span(text_))));
    offset_ += text_.size();
    text_.clear();
    return {};
  }

  AtomicFile file_;
  std::uint64_t offset_ = 0;
  std::string text_;
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
                   const dkudu::LocalCounts& counts, std::optional<Lines> lines) {
  SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
  unsigned __int128 arcs = 0;
  double coefficients = 0;
  const auto visit = [&](VertexId v, const dkudu::LocalFigures& figures) -> Status {
    arcs += figures.arcs;
    coefficients += figures.clustering();
    if (!lines) return {};
    return lines->Add(state.clustering ? fmt::format("{} {}\n", ids[v], figures.clustering())
                                       : fmt::format("{} {}\n", ids[v], figures.triangles()));
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
  std::optional<Lines> lines;  // opened first, so that a wrong path costs no computation
  if (run.cluster.self() == 0 && !state.output.empty()) {
    SLIM_ASSIGN(AtomicFile out, AtomicFile::Create(state.output));
    lines.emplace(std::move(out));
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
    return dkudu::LocalBytes(graph, mining) + (verifies ? VerificationBytes(graph) : 0);
  };
  const auto part = state.clustering ? dkudu::ListPart::kArcs : dkudu::ListPart::kAll;
  return RunMiningJob(run, state.common, part, bytes, count, finish);
}

void DeclareVerify(Options& options, LocalState& state) {
  options.Flag("--verify", "compare the result with that of a serial computation", state.verify);
  state.common.prints_ids = true;
  DeclareMiningOptions(options, state.common);
}

Command MakeLocalCommand(const char* name, const char* summary,
                         const std::function<void(Options&, LocalState&)>& declare_own) {
  const auto state = std::make_shared<LocalState>();
  const auto declare = [state, declare_own](Options& options) {
    declare_own(options, *state);
    DeclareVerify(options, *state);
  };
  const auto run = [state, name](const std::vector<std::string>& arguments) {
    return RunJob(name, state->common.job, arguments,
                  [state](JobRun& job_run) { return RunLocal(*state, job_run); });
  };
  return {name, summary, declare, run};
}

}  // namespace

Command LocalCommand() {
  return MakeLocalCommand(
      "local", "count the triangles at each vertex", [](Options& options, LocalState& state) {
        Option& triangles =
            options.Flag("--triangles", "how many triangles each vertex is in", [] {});
        Option& clustering = options.Flag(
            "--clustering", "which share of its pairs of neighbours is adjacent (as lcc)",
            state.clustering);
        options.RequireOne(triangles, clustering);
        options
            .Text("-o,--output", "FILE", "a line for each vertex: its id and its value",
                  state.output)
            .Required();
      });
}

Command LccCommand() {
  return MakeLocalCommand("lcc", "the local clustering coefficient of each vertex",
                          [](Options& options, LocalState& state) {
                            state.clustering = true;
                            state.common.directed = true;
                            options
                                .Text("-o,--output", "FILE",
                                      "a line for each vertex: its id and its coefficient",
                                      state.output)
                                .Default("no file");
                          });
}

}  // namespace slimgraph
