// `slimgraph local`: the triangles at each vertex, or its clustering coefficient.
#include "dkudu/local.h"

#include "apps/mining.h"
#include "slimgraph/base/atomic_file.h"

namespace slimgraph {
namespace {

struct LocalState {
  MiningCommandOptions common;
  bool triangles = false;
  bool clustering = false;
  std::string output;
};

// Lines of text, written as a block when there are many.
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

Status WriteLocal(const LocalState& state, Run& run, const GraphSource& file, MiningJob& job) {
  std::optional<Lines> lines;
  OriginalIds ids;
  if (run.cluster.self() == 0) {
    SLIM_ASSIGN(AtomicFile out, AtomicFile::Create(state.output));
    lines.emplace(std::move(out));
    SLIM_ASSIGN(ids, file.ReadOriginalIds());
  }
  unsigned __int128 corners = 0;
  double coefficients = 0;
  const auto visit = [&](VertexId dense, const LocalFigures& figures) -> Status {
    corners += figures.triangles;
    coefficients += figures.clustering();
    return lines->Add(state.clustering ? fmt::format("{} {}\n", ids[dense], figures.clustering())
                                       : fmt::format("{} {}\n", ids[dense], figures.triangles));
  };
  SLIM_TRY(ForEachLocal(job, visit));
  if (run.cluster.self() != 0) return {};
  SLIM_TRY(lines->Finish());
  SLIM_ASSIGN(const std::uint64_t triangles, Narrow(corners / 3, "triangles"));
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
    options.Flag("--triangles", "how many triangles each vertex is in", state->triangles);
    options.Flag("--clustering", "which part of its pairs of neighbours is adjacent",
                 state->clustering);
    options.Text("-o,--output", "FILE", "a line for each vertex: its id and its figure",
                 state->output);
    DeclareMiningOptions(options, state->common);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (state->triangles == state->clustering) {
      return Complain({ErrorKind::kUsage, "give either --triangles or --clustering"});
    }
    if (state->output.empty()) return Complain({ErrorKind::kUsage, "--output is required"});
    return RunJob("local", state->common.job, arguments, [state](Run& job_run) {
      const auto work = [&](Run& mining_run, const GraphSource& file, MiningJob& job) {
        return WriteLocal(*state, mining_run, file, job);
      };
      return Mine(job_run, state->common, ListPart::kAll, work);
    });
  };
  return {"local", "count the triangles at each vertex", declare, run};
}

}  // namespace slimgraph
