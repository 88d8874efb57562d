#include <cmath>

#include "apps/commands.h"
#include "apps/vertex/vertex_job.h"
#include "dgemini/serial.h"
#include "dgemini/shortest_paths.h"

namespace slimgraph {
namespace {

class SsspApplication : public VertexApplication {
 public:
  void Declare(Options& options) override {
    options.Number("--source", "V", "where the paths start", source_id_).Required();
    options.Number("--delta", "D", "the width of a bucket of distances", delta_)
        .Default("chosen by the weights");
    options.Flag("--unit-weights",
                 "each edge has the length 1, whether the graph has weights or not", unit_weights_);
  }

  bool unit_weights() const override { return unit_weights_; }

  Status Prepare(const GraphSource& file, const OriginalIds& ids) override {
    if (delta_ && !(*delta_ > 0)) return UsageError("--delta {} is not positive", *delta_);
    SLIM_TRY(paths_.Prepare(file));
    SLIM_ASSIGN(source_, FindVertex(ids, source_id_));
    return {};
  }
  dgemini::WorkloadNeeds Needs(dgemini::Mode mode) const override {
    return dgemini::ShortestPaths::Needs(mode);
  }

  Status AfterLoad(Cluster& cluster, const dgemini::Workload& work) override {
    return paths_.Examine(cluster, work, delta_);
  }
  Status Compute(dgemini::Engine& engine) override { return paths_.Compute(engine, source_); }
  Status Gather(dgemini::Engine& engine) override { return paths_.Gather(engine); }

  Status ReportResult(dgemini::Engine& engine, JobRun& run) override {
    SLIM_ASSIGN(const auto reach, paths_.FindReach(engine));
    run.report.Set("/options/source", source_id_);
    run.report.Set("/options/delta", paths_.delta());
    run.report.Set("/result/reached", static_cast<std::uint64_t>(reach.vertices));
    run.report.Set("/result/farthest", reach.farthest);
    run.text += fmt::format("from {}: {:.0f} vertices reached, the farthest at {}\n", source_id_,
                            reach.vertices, reach.farthest);
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected = dgemini::serial::Sssp(out_lists, source_);
    for (VertexId v = 0; v < expected.size(); ++v) {
      const double distance = paths_.Distance(v);
      if (distance == expected[v]) continue;
      if (std::abs(distance - expected[v]) <= 1e-9 * expected[v]) continue;
      return VerificationError("the distance of vertex {} (counted from 0) is {}, not {}", v,
                               distance, expected[v]);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    const double distance = paths_.Distance(v);
    if (std::isinf(distance)) {
      line += "Infinity";
      return;
    }
    paths_.Visit([&](const auto& d) {
      const auto to = std::back_inserter(line);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(d[v])>, double>) {
        fmt::format_to(to, "{:.15e}", d[v]);
      } else {
        fmt::format_to(to, "{}", d[v]);
      }
    });
  }

 private:
  std::uint64_t source_id_ = 0;
  std::optional<double> delta_;
  bool unit_weights_ = false;
  VertexId source_ = 0;
  dgemini::ShortestPaths paths_;
};

}  // namespace

Command SsspCommand() {
  return VertexCommand<SsspApplication>(
      "sssp", "the lengths of the shortest paths from a source (weighted edges)",
      {"shortest-paths"});
}

}  // namespace slimgraph
