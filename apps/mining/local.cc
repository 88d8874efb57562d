// `slimgraph local`: the triangles at each vertex, or its clustering coefficient.
#include "dkudu/local.h"

#include "apps/commands.h"
#include "apps/mining/mining_command.h"
#include "apps/output/value_file.h"

namespace slimgraph {
namespace {

class LocalPart : public MiningPart {
 public:
  void Declare(Options& options) override {
    Option& triangles = options.Flag("--triangles", "how many triangles each vertex is in", [] {});
    Option& clustering = options.Flag(
        "--clustering", "which share of its pairs of neighbours is adjacent", clustering_);
    options.RequireOne(triangles, clustering);
    options
        .Text(
            "-o,--output", "FILE",
            "a line 'id value' for each vertex; FILE.csv: 'id,value'; FILE.npy: records for NumPy; "
            "-: standard output",
            output_)
        .Default("the sum and the mean alone");
  }
  std::string output() const override { return output_; }

  Result<MiningStep> Step(JobRun&) override {
    const auto work = [this](JobRun& run, const GraphSource& file, dkudu::MiningJob& job) {
      return Compute(run, file, job);
    };
    const auto bytes = [this](const dkudu::MiningGraph& graph,
                              const dkudu::MiningOptions& options) {
      return dkudu::LocalBytes(graph, options) +
             (output_.empty() ? 0 : ValueFile::MemoryBytes(output_, graph.vertices()));
    };
    return MiningStep{dkudu::ListPart::kAll, bytes, work, true};
  }

 private:
  Status Compute(JobRun& run, const GraphSource& file, dkudu::MiningJob& job) const {
    std::unique_ptr<ValueFile> lines;
    OriginalIds ids;
    if (run.cluster.self() == 0) {
      if (!output_.empty()) {
        SLIM_ASSIGN(lines, ValueFile::Create(output_));
      }
      run.text_to_stderr = IsStandardOutput(output_);
      SLIM_ASSIGN(ids, file.ReadOriginalIds());
    }
    unsigned __int128 corners = 0;
    double coefficients = 0;
    const auto visit = [&](std::uint64_t id, const dkudu::LocalFigures& figures) -> Status {
      corners += figures.triangles;
      coefficients += figures.clustering();
      if (!lines) return {};
      return lines->Add(id, clustering_ ? fmt::format("{}", figures.clustering())
                                        : fmt::format("{}", figures.triangles));
    };
    SLIM_TRY(dkudu::ForEachLocal(job, ids, visit));
    if (run.cluster.self() != 0) return {};
    if (lines) SLIM_TRY(lines->Finish());
    SLIM_ASSIGN(const std::uint64_t triangles, dkudu::Narrow(corners / 3, "triangles"));
    const double mean = coefficients / file.vertices();
    run.report.Set("/result/count", triangles);
    run.report.Set("/result/mean_clustering", mean);
    if (lines) {
      run.report.Set("/result/output", output_);
      run.text +=
          fmt::format("{} of each vertex: {}\n",
                      clustering_ ? "the clustering coefficient" : "the triangles", output_);
    }
    run.text += fmt::format("triangles: {}\nmean clustering: {:.6f}\n", triangles, mean);
    return {};
  }

  bool clustering_ = false;
  std::string output_;
};

}  // namespace

Command LocalCommand() {
  return MiningCommand<LocalPart>("local",
                                  "the triangles at each vertex, or its clustering coefficient",
                                  {"clustering", "local-triangles"});
}

}  // namespace slimgraph
