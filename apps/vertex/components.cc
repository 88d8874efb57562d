#include "dgemini/programs.h"

#include "apps/commands.h"
#include "apps/vertex/vertex_job.h"
#include "dgemini/serial.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

class ComponentsApplication : public VertexApplication {
 public:
  void Declare(Options&) override {}

  Status Prepare(const GraphSource& file, const OriginalIds& ids) override {
    directed_ = file.directed();
    ids_ = &ids;
    return {};
  }
  dgemini::WorkloadNeeds Needs(dgemini::Mode) const override { return dgemini::ComponentsNeeds(); }
  Status Compute(dgemini::Engine& engine) override {
    SLIM_ASSIGN(label_, dgemini::Components(engine, directed_));
    return {};
  }
  Status Gather(dgemini::Engine& engine) override {
    SLIM_TRY(engine.Gather(label_));
    if (!ids_->ascending()) NameBySmallestId();
    return {};
  }

  Status ReportResult(dgemini::Engine& engine, JobRun& run) override {
    SLIM_ASSIGN(const double count,
                engine.Sum([&](VertexId v) { return label_[v] == v ? 1.0 : 0.0; }));
    const auto components = static_cast<std::uint64_t>(count);
    run.report.Set("/result/components", components);
    run.text += FormatCounted(components, "component") + "\n";
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected = dgemini::serial::Components(out_lists);
    for (VertexId v = 0; v < expected.size(); ++v) {
      if (label_[v] == expected[v]) continue;
      return VerificationError(
          "the component of vertex {} (counted from 0) is that of {}, and should be that of {}", v,
          label_[v], expected[v]);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    const VertexId label = label_[v];
    fmt::format_to(std::back_inserter(line), "{}", (*ids_)[names_.empty() ? label : names_[label]]);
  }

 private:
  void NameBySmallestId() {
    names_.assign(ids_->count(), kNoName);
    for (VertexId i = 0; i < ids_->count(); ++i) {
      const VertexId v = ids_->InOrder(i);
      if (VertexId& name = names_[label_[v]]; name == kNoName) name = v;
    }
  }

  static constexpr VertexId kNoName = ~VertexId{0};  // no dense id: there are at most 2^32 - 1
  bool directed_ = false;
  const OriginalIds* ids_ = nullptr;
  // By label: the vertex of the component with the smallest id. Empty if ids ascend.
  std::vector<VertexId> names_;
  dgemini::VertexArray<VertexId> label_;
};

}  // namespace

Command ComponentsCommand() {
  return VertexCommand<ComponentsApplication>(
      "cc", "the connected components of a graph (weakly connected, if it is directed)",
      {"components", "connected-components", "wcc"});
}

}  // namespace slimgraph
