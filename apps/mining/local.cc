// `slimgraph local`: the triangles at each vertex, or its clustering coefficient. `slimgraph lcc`
// is the latter by the name that LDBC Graphalytics gives it.
#include "dkudu/local.h"

#include <memory>
#include <optional>
#include <utility>

#include "apps/commands.h"
#include "apps/mining/mining_command.h"
#include "apps/output/value_file.h"
#include "dkudu/serial.h"

namespace slimgraph {
namespace {

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

class LocalPart : public MiningPart {
 public:
  void Declare(Options& options) override {
    Option& triangles = options.Flag("--triangles", "how many triangles each vertex is in", [] {});
    Option& clustering = options.Flag(
        "--clustering", "which share of its pairs of neighbours is adjacent (as lcc)", clustering_);
    options.RequireOne(triangles, clustering);
    DeclareOutput(options);
  }
  std::string output() const override { return output_; }

  Result<dkudu::ListPart> Lists() override {
    return clustering_ ? dkudu::ListPart::kArcs : dkudu::ListPart::kAll;
  }
  Result<MiningStep> Step(JobRun& run) override {
    if (run.cluster.self() == 0 && !output_.empty()) {
      // Before the computation, so that a wrong path costs none.
      SLIM_ASSIGN(lines_, ValueFile::Create(output_));
      run.text_to_stderr = IsStandardOutput(output_);
    }
    const auto work = [this](JobRun&, const GraphSource&, dkudu::MiningJob& job) -> Status {
      SLIM_ASSIGN(auto counts, dkudu::CountLocal(job));
      if (job.cluster.self() == 0) counts_.emplace(std::move(counts));
      return {};
    };
    const auto finish = [this](JobRun& one, const GraphSource& file, dkudu::MiningJob&) {
      return Finish(one, file);
    };
    const auto bytes = [this](const dkudu::MiningGraph& graph,
                              const dkudu::MiningOptions& options) {
      const bool verifies = verify_ && graph.self() == 0;
      return dkudu::LocalBytes(graph, options) + (verifies ? VerificationBytes(graph) : 0) +
             (output_.empty() ? 0 : ValueFile::MemoryBytes(output_, graph.vertices()));
    };
    return MiningStep{.engine_bytes = bytes, .work = work, .prints_ids = true, .finish = finish};
  }

 protected:
  void DeclareOutput(Options& options) {
    options
        .Text(
            "-o,--output", "FILE",
            "a line 'id value' for each vertex; FILE.csv: 'id,value'; FILE.npy: records for NumPy; "
            "-: standard output",
            output_)
        .Default("the sum and the mean alone");
    options.Flag("--verify", "compare the result with that of a serial computation", verify_);
  }
  bool clustering_ = false;

 private:
  // On node 0, after the counts: writes the output and reports sums.
  Status Finish(JobRun& run, const GraphSource& file) {
    // They must not outlive the job.
    const dkudu::LocalCounts counts = *std::exchange(counts_, std::nullopt);
    SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
    unsigned __int128 arcs = 0;
    double coefficients = 0;
    const auto visit = [&](VertexId v, const dkudu::LocalFigures& figures) -> Status {
      arcs += figures.arcs;
      coefficients += figures.clustering();
      if (!lines_) return {};
      return lines_->Add(ids[v], clustering_ ? fmt::format("{}", figures.clustering())
                                             : fmt::format("{}", figures.triangles()));
    };
    SLIM_TRY(counts.ForEach(ids, visit));
    if (lines_) {
      SLIM_TRY(lines_->Finish());
      run.report.Set("/result/output", output_);
      run.text +=
          fmt::format("{} of each vertex: {}\n",
                      clustering_ ? "the clustering coefficient" : "the triangles", output_);
    }
    if (!file.directed()) {
      SLIM_ASSIGN(const std::uint64_t triangles, dkudu::Narrow(arcs / 6, "triangles"));
      run.report.Set("/result/count", triangles);
      run.text += fmt::format("triangles: {}\n", triangles);
    }
    const double mean = coefficients / file.vertices();
    run.report.Set("/result/mean_clustering", mean);
    run.text += fmt::format("mean clustering: {:.6f}\n", mean);
    if (!verify_) return {};
    SLIM_TRY(VerifyLocal(file, counts, ids));
    run.report.Set("/verified", true);
    run.text += "the result equals that of a serial computation\n";
    return {};
  }

  bool verify_ = false;
  std::string output_;
  std::unique_ptr<ValueFile> lines_;
  std::optional<dkudu::LocalCounts> counts_;
};

// The same as local --clustering, also of directed graphs.
class LccPart : public LocalPart {
 public:
  LccPart() { clustering_ = true; }
  void Declare(Options& options) override { DeclareOutput(options); }
  bool takes_directed() const override { return true; }
};

}  // namespace

Command LocalCommand() {
  return MiningCommand<LocalPart>(
      "local", "the triangles at each vertex, or its clustering coefficient", {"local-triangles"});
}

Command LccCommand() {
  return MiningCommand<LccPart>("lcc", "the local clustering coefficient of each vertex",
                                {"clustering"});
}

}  // namespace slimgraph
