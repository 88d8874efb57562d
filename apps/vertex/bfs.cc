#include "dgemini/programs.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "apps/commands.h"
#include "apps/vertex/vertex_job.h"
#include "dgemini/serial.h"

namespace slimgraph {
namespace {

class BfsApplication : public VertexApplication {
 public:
  void Declare(Options& options) override {
    options.Number("--source", "V", "where the search starts", source_id_).Required();
  }

  Status Prepare(const GraphSource&, const OriginalIds& ids) override {
    SLIM_ASSIGN(source_, FindVertex(ids, source_id_));
    return {};
  }
  dgemini::WorkloadNeeds Needs(dgemini::Mode mode) const override {
    return dgemini::BfsNeeds(mode);
  }
  Status Compute(dgemini::Engine& engine) override {
    SLIM_ASSIGN(depth_, dgemini::Bfs(engine, source_, most_depth_));
    return {};
  }
  Status Gather(dgemini::Engine& engine) override { return engine.Gather(depth_); }

  Status ReportResult(dgemini::Engine& engine, JobRun& run) override {
    SLIM_ASSIGN(const double reached, engine.Sum([&](VertexId v) {
      return depth_[v] == dgemini::kUnreached ? 0.0 : 1.0;
    }));
    std::uint64_t deepest = 0;
    for (VertexId v = 0; v < engine.vertices(); ++v) {
      if (engine.mine(v) && depth_[v] != dgemini::kUnreached) {
        deepest = std::max<std::uint64_t>(deepest, depth_[v]);
      }
    }
    SLIM_TRY(engine.Reduce(std::span(&deepest, 1), [](auto a, auto b) { return std::max(a, b); }));
    run.report.Set("/options/source", source_id_);
    run.report.Set("/result/reached", static_cast<std::uint64_t>(reached));
    run.report.Set("/result/depth", deepest);
    run.text += fmt::format("from {}: {:.0f} vertices reached, the farthest over {} edges\n",
                            source_id_, reached, deepest);
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected = dgemini::serial::Bfs(out_lists, source_);
    for (VertexId v = 0; v < expected.size(); ++v) {
      const auto depth = expected[v] <= most_depth_ ? expected[v] : dgemini::kUnreached;
      if (depth_[v] == depth) continue;
      return VerificationError("the depth of vertex {} (counted from 0) is {}, and should be {}", v,
                               depth_[v], depth);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    if (depth_[v] == dgemini::kUnreached) {
      line += "9223372036854775807";
    } else {
      fmt::format_to(std::back_inserter(line), "{}", depth_[v]);
    }
  }

 protected:
  std::uint64_t source_id_ = 0;
  std::uint64_t most_depth_ = dgemini::kUnreached;
  VertexId source_ = 0;
  dgemini::VertexArray<std::uint32_t> depth_;
};

// How many vertices are within some hops of a source.
class HopsApplication : public BfsApplication {
 public:
  void Declare(Options& options) override {
    BfsApplication::Declare(options);
    options.Number("--hops", "K", "the most edges from the source", most_depth_).Required();
  }

  Status ReportResult(dgemini::Engine& engine, JobRun& run) override {
    std::vector<std::uint64_t> at;  // by depth: how many vertices
    for (VertexId v = 0; v < engine.vertices(); ++v) {
      if (!engine.mine(v) || depth_[v] == dgemini::kUnreached) continue;
      if (depth_[v] >= at.size()) at.resize(depth_[v] + std::size_t{1});
      ++at[depth_[v]];
    }
    std::uint64_t depths = at.size();
    SLIM_TRY(engine.Reduce(std::span(&depths, 1), [](auto a, auto b) { return std::max(a, b); }));
    at.resize(depths);
    for (std::size_t first = 0; first < depths; first += dgemini::Exchange::kMaxValues) {
      const std::size_t count =
          std::min<std::size_t>(dgemini::Exchange::kMaxValues, depths - first);
      SLIM_TRY(engine.Reduce(std::span(at).subspan(first, count), std::plus<>()));
    }
    run.report.Set("/options/source", source_id_);
    run.report.Set("/options/hops", most_depth_);
    run.report.Set("/result/reached", std::accumulate(at.begin(), at.end(), std::uint64_t{0}));
    run.report.Set("/result/reached_at", at);
    run.text += fmt::format("from {}:", source_id_);
    for (std::size_t depth = 0; depth < depths; ++depth) {
      run.text += fmt::format(" {} at {}{}", at[depth], depth, depth + 1 < depths ? "," : "\n");
    }
    return {};
  }
};

}  // namespace

Command BfsCommand() {
  return VertexCommand<BfsApplication>(
      "bfs", "breadth-first search: how many edges each vertex is from a source",
      {"breadth-first-search"});
}

Command HopsCommand() {
  return VertexCommand<HopsApplication>("khop", "how many vertices are within k edges of a source");
}

}  // namespace slimgraph
