// `slimgraph triangles` and `slimgraph cliques`.
#include "dkudu/cliques.h"

#include "apps/commands.h"
#include "apps/mining/mining_command.h"

namespace slimgraph {
namespace {

MiningStep CountCliquesOf(unsigned size, const std::string& name) {
  const auto work = [size, name](JobRun& run, const GraphSource&, dkudu::MiningJob& job) -> Status {
    SLIM_ASSIGN(const std::uint64_t count, dkudu::CountCliques(job, size));
    run.report.Set("/result/count", count);
    run.text += fmt::format("{}: {}\n", name, count);
    return {};
  };
  const auto bytes = [size](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& mining) {
    return dkudu::CliqueBytes(graph, mining, size);
  };
  return {dkudu::ListPart::kUpper, bytes, work};
}

class TrianglesPart : public MiningPart {
 public:
  void Declare(Options&) override {}
  Result<MiningStep> Step(JobRun&) override { return CountCliquesOf(3, "triangles"); }
};

class CliquesPart : public MiningPart {
 public:
  void Declare(Options& options) override {
    options
        .Number("-k", "K", "the vertices of a clique, 3..8", size_, dkudu::kMinClique,
                dkudu::kMaxClique)
        .Required();
  }
  Result<MiningStep> Step(JobRun& run) override {
    run.report.Set("/options/k", std::uint64_t{size_});
    return CountCliquesOf(size_, fmt::format("{}-cliques", size_));
  }

 private:
  unsigned size_ = 0;
};

}  // namespace

Command TrianglesCommand() {
  return MiningCommand<TrianglesPart>("triangles", "count the triangles of a graph");
}

Command CliquesCommand() {
  return MiningCommand<CliquesPart>("cliques", "count the cliques of k vertices");
}

}  // namespace slimgraph
