// `slimgraph local`: the triangles at each vertex, or its clustering coefficient.
#include "dkudu/local.h"

#include "apps/commands.h"
#include "apps/mining/mining_command.h"
#include "slimgraph/base/atomic_file.h"

namespace slimgraph {
namespace {

struct LocalState {
  MiningCommandOptions common;
  bool clustering = false;
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

Status WriteLocal(const LocalState& state, JobRun& run, const GraphSource& file,
                  dkudu::MiningJob& job) {
  std::optional<Lines> lines;
  OriginalIds ids;
  if (run.cluster.self() == 0) {
    SLIM_ASSIGN(AtomicFile out, AtomicFile::Create(state.output));
    lines.emplace(std::move(out));
    SLIM_ASSIGN(ids, file.ReadOriginalIds());
  }
  unsigned __int128 corners = 0;
  double coefficients = 0;
  const auto visit = [&](std::uint64_t id, const dkudu::LocalFigures& figures) -> Status {
    corners += figures.triangles;
    coefficients += figures.clustering();
    return lines->Add(state.clustering ? fmt::format("{} {}\n", id, figures.clustering())
                                       : fmt::format("{} {}\n", id, figures.triangles));
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
        .Text("-o,--output", "FILE", "a line for each vertex: its id and its value", state->output)
        .Required();
    state->common.prints_ids = true;
    DeclareMiningOptions(options, state->common);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    return RunJob("local", state->common.job, arguments, [state](JobRun& job_run) {
      const auto work = [&](JobRun& mining_run, const GraphSource& file, dkudu::MiningJob& job) {
        return WriteLocal(*state, mining_run, file, job);
      };
      return RunMiningJob(job_run, state->common, dkudu::ListPart::kAll, dkudu::LocalBytes, work);
    });
  };
  return {"local",
          "the triangles at each vertex, or its clustering coefficient",
          declare,
          run,
          {"clustering", "local-triangles"}};
}

}  // namespace slimgraph
