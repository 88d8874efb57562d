#include "dgemini/programs.h"

#include <cmath>

#include "apps/commands.h"
#include "apps/vertex/vertex_job.h"
#include "dgemini/serial.h"

namespace slimgraph {
namespace {

class PageRankApplication : public VertexApplication {
 public:
  void Declare(Options& options) override {
    options.Number("--damping", "D", "the share of a rank that follows edges", options_.damping, 0,
                   1);
    Option& iterations =
        options.Number("--iterations", "N", "how many iterations", options_.iterations);
    Option& tolerance =
        options
            .Number("--tolerance", "T", "stop when the ranks change by T or less in all",
                    options_.tolerance)
            .Default("stop after --iterations")
            .Excludes(iterations);
    options
        .Choice("--precision",
                "float: what crosses edges and nodes has 4 bytes, and sums 8; relative errors of "
                "ranks are below 1e-6",
                {"double", "float"}, options_.precision)
        .Excludes(tolerance);
    options.Number("--source", "V", "personalised: ranks seen from this vertex", source_id_)
        .Default("no vertex");
  }

  Status Prepare(const GraphSource&, const OriginalIds& ids) override {
    if (source_id_) {
      SLIM_ASSIGN(options_.source, FindVertex(ids, *source_id_));
    }
    // Rounding errors keep the change of ranks above a smaller tolerance forever.
    if (options_.tolerance && !(*options_.tolerance >= 1e-14)) {
      return UsageError("--tolerance {} is out of range: 1e-14 and more", *options_.tolerance);
    }
    return {};
  }
  dgemini::WorkloadNeeds Needs(dgemini::Mode mode) const override {
    return dgemini::PageRankNeeds(mode, options_.precision);
  }
  Status Compute(dgemini::Engine& engine) override {
    SLIM_ASSIGN(ranks_, dgemini::PageRank(engine, options_));
    return {};
  }
  Status Gather(dgemini::Engine& engine) override { return engine.Gather(ranks_.rank); }

  Status ReportResult(dgemini::Engine& engine, JobRun& run) override {
    SLIM_ASSIGN(const double sum, engine.Sum([&](VertexId v) { return ranks_.rank[v]; }));
    run.report.Set("/options/damping", options_.damping);
    if (source_id_) run.report.Set("/options/source", *source_id_);
    run.report.Set("/result/iterations", ranks_.iterations);
    run.report.Set("/result/sum", sum);
    run.text += fmt::format("{} iterations; the ranks sum to {:.15g}\n", ranks_.iterations, sum);
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected = dgemini::serial::PageRank(out_lists, options_).rank;
    const double relative = options_.precision == dgemini::Precision::kFloat ? 1e-6 : 1e-9;
    for (VertexId v = 0; v < expected.size(); ++v) {
      if (std::abs(ranks_.rank[v] - expected[v]) <= relative * expected[v]) continue;
      return VerificationError("the rank of vertex {} (counted from 0) is {}, and should be {}", v,
                               ranks_.rank[v], expected[v]);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    fmt::format_to(std::back_inserter(line), "{:.15e}", ranks_.rank[v]);
  }

 private:
  std::optional<std::uint64_t> source_id_;
  dgemini::PageRankOptions options_;
  dgemini::PageRanks ranks_;
};

}  // namespace

Command PageRankCommand() {
  return VertexCommand<PageRankApplication>("pagerank", "the PageRank of each vertex");
}

}  // namespace slimgraph
