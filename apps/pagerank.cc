#include "dgemini/pagerank.h"

#include <cmath>

#include "apps/vertex_commands.h"
#include "apps/vertex_job.h"
#include "dgemini/serial.h"

namespace slimgraph {
namespace {

class PageRankApplication : public VertexApplication {
 public:
  void Declare(Options& options) {
    options.Number("--damping", "D", "the part of a rank that goes along edges (default 0.85)",
                   options_.damping);
    options.Number("--iterations", "N", "how many (default 20)", iterations_);
    options.Number("--tolerance", "T", "instead: until all ranks together change by no more",
                   options_.tolerance);
  }

  Status Prepare(const GraphSource&, const OriginalIds&) override {
    if (!(options_.damping >= 0 && options_.damping <= 1)) {
      return UsageError("--damping {} is out of range: 0..1", options_.damping);
    }
    if (options_.tolerance && iterations_) {
      return UsageError("--iterations and --tolerance exclude each other");
    }
    // What rounding leaves never gets smaller.
    if (options_.tolerance && !(*options_.tolerance >= 1e-14)) {
      return UsageError("--tolerance {} is out of range: 1e-14 and more", *options_.tolerance);
    }
    options_.iterations = iterations_.value_or(options_.iterations);
    return {};
  }
  WorkloadNeeds Needs(Mode mode) const override {
    // What is given now and next, and received by pushes; the degree.
    return {.pull_in = mode != Mode::kPush,
            .vertex_bytes = 8.25,
            .share_bytes = mode == Mode::kPush ? 20.0 : 12.0};
  }
  Status Compute(Engine& engine) override {
    SLIM_ASSIGN(ranks_, PageRank(engine, options_));
    return {};
  }
  Status Gather(Engine& engine) override { return engine.Gather(ranks_.rank); }

  Status Describe(Engine& engine, Run& run) override {
    SLIM_ASSIGN(const double sum, engine.Sum([&](VertexId v) { return ranks_.rank[v]; }));
    run.report.Set("/options/damping", options_.damping);
    run.report.Set("/result/iterations", ranks_.iterations);
    run.report.Set("/result/sum", sum);
    run.text += fmt::format("{} iterations; the ranks sum to {:.15g}\n", ranks_.iterations, sum);
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected = serial::PageRank(out_lists, options_).rank;
    for (VertexId v = 0; v < expected.size(); ++v) {
      if (std::abs(ranks_.rank[v] - expected[v]) <= 1e-9 * expected[v]) continue;
      return VerificationError("the rank of vertex {} (counted from 0) is {}, and should be {}", v,
                               ranks_.rank[v], expected[v]);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    fmt::format_to(std::back_inserter(line), "{:.15e}", ranks_.rank[v]);
  }

 private:
  PageRankOptions options_;
  std::optional<std::uint64_t> iterations_;
  PageRanks ranks_;
};

}  // namespace

Command PageRankCommand() {
  return VertexCommand<PageRankApplication>("pagerank", "how much weight edges give each vertex");
}

}  // namespace slimgraph
