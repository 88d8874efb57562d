#include "dgemini/components.h"

#include "apps/vertex_commands.h"
#include "apps/vertex_job.h"
#include "dgemini/serial.h"

namespace slimgraph {
namespace {

class ComponentsApplication : public VertexApplication {
 public:
  void Declare(Options&) {}

  Status Prepare(const GraphSource& file, const OriginalIds& ids) override {
    directed_ = file.directed();
    ids_ = ids;
    return {};
  }
  WorkloadNeeds Needs(Mode) const override {
    return {.pull_out = true, .vertex_bytes = 8.5, .share_bytes = 0};
  }
  Status Compute(Engine& engine) override {
    SLIM_ASSIGN(label_, Components(engine, directed_));
    return {};
  }
  Status Gather(Engine& engine) override { return engine.Gather(label_); }

  Status Describe(Engine& engine, Run& run) override {
    SLIM_ASSIGN(const double count,
                engine.Sum([&](VertexId v) { return label_[v] == v ? 1.0 : 0.0; }));
    run.report.Set("/result/components", static_cast<std::uint64_t>(count));
    run.text += fmt::format("{:.0f} components\n", count);
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected = serial::Components(out_lists);
    for (VertexId v = 0; v < expected.size(); ++v) {
      if (label_[v] == expected[v]) continue;
      return VerificationError(
          "the component of vertex {} (counted from 0) is that of {}, and should be that of {}", v,
          label_[v], expected[v]);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    fmt::format_to(std::back_inserter(line), "{}", ids_[label_[v]]);
  }

 private:
  bool directed_ = false;
  OriginalIds ids_;
  VertexArray<VertexId> label_;
};

}  // namespace

Command ComponentsCommand() {
  return VertexCommand<ComponentsApplication>("cc", "which vertices hang together");
}

}  // namespace slimgraph
