// `slimgraph triangles` and `slimgraph cliques`.
#include "dkudu/cliques.h"

#include "apps/commands.h"
#include "apps/mining/verified_counts.h"

namespace slimgraph {
namespace {

class CliqueCountPart : public MiningPart {
 public:
  bool may_move() const override { return true; }

 protected:
  void DeclareVerify(Options& options) { verified_.Declare(options); }

  Result<dkudu::ListPart> Lists() override { return dkudu::ListPart::kUpper; }
  Result<MiningStep> CountOf(unsigned size, const std::string& name) {
    SLIM_ASSIGN(const dkudu::Pattern clique, dkudu::Pattern::Clique(size));
    const auto work = [this, clique, name](JobRun& run, const GraphSource&,
                                           dkudu::MiningJob& job) -> Status {
      SLIM_ASSIGN(const std::uint64_t count, dkudu::CountCliques(job, clique.size()));
      run.report.Set("/result/count", count);
      run.text += fmt::format("{}: {}\n", name, count);
      verified_.Add(clique, dkudu::Induced::kEdge, count);
      return {};
    };
    const auto bytes = [this, size](const dkudu::MiningGraph& graph,
                                    const dkudu::MiningOptions& mining) {
      return dkudu::CliqueBytes(graph, mining, size) + verified_.Bytes(graph);
    };
    return MiningStep{.engine_bytes = bytes, .work = work, .finish = verified_.Finish()};
  }

 private:
  VerifiedCounts verified_;
};

class TrianglesPart : public CliqueCountPart {
 public:
  void Declare(Options& options) override { DeclareVerify(options); }
  Result<MiningStep> Step(JobRun&) override { return CountOf(3, "triangles"); }
};

class CliquesPart : public CliqueCountPart {
 public:
  void Declare(Options& options) override {
    options
        .Number("-k", "K", "the vertices of a clique, 3..8", size_, dkudu::kMinClique,
                dkudu::kMaxClique)
        .Required();
    DeclareVerify(options);
  }
  Result<MiningStep> Step(JobRun& run) override {
    run.report.Set("/options/k", std::uint64_t{size_});
    return CountOf(size_, fmt::format("{}-cliques", size_));
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
