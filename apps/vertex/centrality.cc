#include "dgemini/programs.h"

#include <cmath>
#include <random>

#include "apps/commands.h"
#include "apps/vertex/vertex_job.h"
#include "dgemini/serial.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

// Draws sources from a seeded generator. Each is redrawn up to kTries times until it has outgoing
// edges.
Result<std::vector<VertexId>> RandomSources(const GraphSource& file, std::uint64_t count,
                                            std::uint64_t seed) {
  constexpr std::uint64_t kTries = 64;
  std::vector<VertexId> sources;
  std::mt19937_64 random(seed);
  while (file.vertices() > 0 && sources.size() < count) {
    VertexId v = 0;
    std::array<EdgeOffset, 2> bounds{};
    for (std::uint64_t i = 0; i < kTries && bounds[0] == bounds[1]; ++i) {
      v = static_cast<VertexId>(random() % file.vertices());
      SLIM_TRY(
          file.ReadElements(file.offsets(Direction::kOut), v, std::span<EdgeOffset>(bounds), 1));
    }
    sources.push_back(v);
  }
  return sources;
}

class CentralityApplication : public VertexApplication {
 public:
  void Declare(Options& options) override {
    Option& sources = options.Text("--sources", "V,...",
                                   "count the shortest paths from these vertices", sources_text_);
    Option& random = options.Number("--random", "K", "from K vertices chosen by --seed", random_);
    options.RequireOne(sources, random);
    options.Number("--seed", "S", "seed of the choice of vertices", seed_).Needs(random);
  }

  Status Prepare(const GraphSource& file, const OriginalIds& ids) override {
    sources_.clear();
    source_ids_.clear();
    if (random_) {
      SLIM_ASSIGN(sources_, RandomSources(file, *random_, seed_));
      for (const VertexId source : sources_) source_ids_.push_back(ids[source]);
      return {};
    }
    for (const std::string_view source : Split(sources_text_)) {
      SLIM_ASSIGN(const auto id, ParseNumber<std::uint64_t>(source));
      SLIM_ASSIGN(sources_.emplace_back(), FindVertex(ids, id));
      source_ids_.push_back(id);
    }
    return {};
  }
  dgemini::WorkloadNeeds Needs(dgemini::Mode mode) const override {
    return dgemini::CentralityNeeds(mode);
  }
  Status Compute(dgemini::Engine& engine) override {
    SLIM_ASSIGN(score_, dgemini::Centrality(engine, sources_));
    return {};
  }
  Status Gather(dgemini::Engine& engine) override { return engine.Gather(score_); }

  Status ReportResult(dgemini::Engine& engine, JobRun& run) override {
    double most = 0;
    for (VertexId v = 0; v < engine.vertices(); ++v) {
      if (engine.mine(v)) most = std::max(most, score_[v]);
    }
    SLIM_TRY(engine.Reduce(std::span(&most, 1), [](double a, double b) { return std::max(a, b); }));
    run.report.Set("/result/sources", std::uint64_t{sources_.size()});
    run.report.Set("/result/source_ids", source_ids_);
    run.report.Set("/result/highest", most);
    run.text += fmt::format("from {}: the highest centrality is {}\n",
                            FormatCounted(sources_.size(), "source"), most);
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected = dgemini::serial::Centrality(out_lists, sources_);
    for (VertexId v = 0; v < expected.size(); ++v) {
      if (std::abs(score_[v] - expected[v]) <= 1e-6 * expected[v]) continue;
      return VerificationError("the centrality of vertex {} (counted from 0) is {}, not {}", v,
                               score_[v], expected[v]);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    fmt::format_to(std::back_inserter(line), "{:.15e}", score_[v]);
  }

 private:
  std::string sources_text_;
  std::optional<std::uint64_t> random_;
  std::uint64_t seed_ = 1;
  std::vector<VertexId> sources_;
  std::vector<std::uint64_t> source_ids_;
  dgemini::VertexArray<double> score_;
};

}  // namespace

Command CentralityCommand() {
  return VertexCommand<CentralityApplication>("bc", "the betweenness centrality of each vertex",
                                              {"betweenness", "centrality"});
}

}  // namespace slimgraph
