#include <algorithm>

#include "apps/commands.h"
#include "apps/vertex/vertex_job.h"
#include "dgemini/programs.h"
#include "dgemini/serial.h"

namespace slimgraph {
namespace {

class CoresApplication : public VertexApplication {
 public:
  void Declare(Options&) override {}

  Status Prepare(const GraphSource& file, const OriginalIds&) override {
    directed_ = file.directed();
    simple_ = !directed_ && !file.may_have_self_loops() && !file.may_have_duplicates();
    return {};
  }
  bool IgnoresDirections() const override { return true; }
  dgemini::WorkloadNeeds Needs(dgemini::Mode mode) const override {
    return dgemini::CoresNeeds(mode);
  }
  Status Compute(dgemini::Engine& engine) override {
    SLIM_ASSIGN(cores_, dgemini::CoreNumbers(engine, simple_));
    return {};
  }
  Status Gather(dgemini::Engine& engine) override { return engine.Gather(cores_); }

  Status ReportResult(dgemini::Engine& engine, JobRun& run) override {
    std::uint64_t largest = 0;
    for (VertexId v = 0; v < engine.vertices(); ++v) {
      if (engine.mine(v)) largest = std::max<std::uint64_t>(largest, cores_[v]);
    }
    SLIM_TRY(engine.Reduce(std::span(&largest, 1), [](auto a, auto b) { return std::max(a, b); }));
    SLIM_ASSIGN(const double within,
                engine.Sum([&](VertexId v) { return cores_[v] == largest ? 1.0 : 0.0; }));
    run.report.Set("/result/largest_core", largest);
    run.report.Set("/result/largest_core_vertices", static_cast<std::uint64_t>(within));
    run.text += fmt::format("the largest core number is {}, of {:.0f} vertices\n", largest, within);
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected = dgemini::serial::CoreNumbers(out_lists, directed_);
    for (VertexId v = 0; v < expected.size(); ++v) {
      if (cores_[v] == expected[v]) continue;
      return VerificationError(
          "the core number of vertex {} (counted from 0) is {}, and should be {}", v, cores_[v],
          expected[v]);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    fmt::format_to(std::back_inserter(line), "{}", cores_[v]);
  }

 private:
  bool directed_ = false;
  bool simple_ = false;
  dgemini::VertexArray<std::uint32_t> cores_;
};

}  // namespace

Command CoresCommand() {
  return VertexCommand<CoresApplication>("kcore", "the core number of each vertex");
}

}  // namespace slimgraph
