#include "apps/commands.h"
#include "apps/vertex/vertex_job.h"
#include "dgemini/programs.h"
#include "dgemini/serial.h"

namespace slimgraph {
namespace {

class CdlpApplication : public VertexApplication {
 public:
  void Declare(Options& options) override {
    options.Number("--iterations", "K", "how many iterations, fewer if labels no longer change",
                   iterations_);
  }

  Status Prepare(const GraphSource& file, const OriginalIds& ids) override {
    directed_ = file.directed();
    ids_ = &ids;
    return {};
  }
  bool IgnoresDirections() const override { return true; }
  dgemini::WorkloadNeeds Needs(dgemini::Mode mode) const override {
    return dgemini::LabelsNeeds(mode);
  }
  Status Compute(dgemini::Engine& engine) override {
    SLIM_ASSIGN(labels_, dgemini::PropagateLabels(engine, *ids_, iterations_));
    return {};
  }
  Status Gather(dgemini::Engine& engine) override { return engine.Gather(labels_.label); }

  Status ReportResult(dgemini::Engine& engine, JobRun& run) override {
    SLIM_ASSIGN(const std::uint64_t count, engine.CountDifferent(labels_.label));
    run.report.Set("/options/iterations", iterations_);
    run.report.Set("/result/iterations", labels_.iterations);
    run.report.Set("/result/communities", count);
    run.text += fmt::format("{} iterations; {} communities\n", labels_.iterations, count);
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected =
        dgemini::serial::PropagateLabels(out_lists, directed_, *ids_, iterations_);
    for (VertexId v = 0; v < expected.size(); ++v) {
      if (Label(v) == expected[v]) continue;
      return VerificationError("the label of vertex {} (counted from 0) is {}, and should be {}", v,
                               Label(v), expected[v]);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    fmt::format_to(std::back_inserter(line), "{}", Label(v));
  }

 private:
  std::uint64_t Label(VertexId v) const { return (*ids_)[ids_->InOrder(labels_.label[v])]; }

  std::uint64_t iterations_ = 10;
  bool directed_ = false;
  const OriginalIds* ids_ = nullptr;
  dgemini::Labels labels_;
};

}  // namespace

Command CdlpCommand() {
  return VertexCommand<CdlpApplication>("cdlp", "communities by label propagation");
}

}  // namespace slimgraph
