// `slimgraph motifs`: every connected pattern of k vertices, vertex-induced.
#include "dkudu/motifs.h"

#include "apps/commands.h"
#include "apps/mining/verified_counts.h"

namespace slimgraph {
namespace {

class MotifsPart : public MiningPart {
 public:
  void Declare(Options& options) override {
    options.Number("-k", "K", "the vertices of a pattern, 3 or 4", vertices_, 3, 4).Required();
    verified_.Declare(options);
  }

  bool may_move() const override { return true; }
  Result<dkudu::ListPart> Lists() override {
    return vertices_ == 3 ? dkudu::ListPart::kUpper : dkudu::ListPart::kAll;
  }
  Result<MiningStep> Step(JobRun& run) override {
    run.report.Set("/options/k", std::uint64_t{vertices_});
    const auto work = [this](JobRun& to, const GraphSource&, dkudu::MiningJob& job) -> Status {
      SLIM_ASSIGN(const auto motifs, dkudu::CountMotifs(job, vertices_, dkudu::Induced::kVertex));
      for (const dkudu::MotifCount& motif : motifs) {
        to.report.Set("/result/counts/" + motif.name, motif.count);
        to.text += fmt::format("{}: {}\n", motif.name, motif.count);
        SLIM_ASSIGN(auto pattern, dkudu::Pattern::Find(motif.name));
        verified_.Add(std::move(pattern), dkudu::Induced::kVertex, motif.count);
      }
      return {};
    };
    const auto bytes = [this](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& mining) {
      return dkudu::MotifBytes(graph, mining, vertices_) + verified_.Bytes(graph);
    };
    return MiningStep{.engine_bytes = bytes, .work = work, .finish = verified_.Finish()};
  }

 private:
  unsigned vertices_ = 0;
  VerifiedCounts verified_;
};

}  // namespace

Command MotifsCommand() {
  return MiningCommand<MotifsPart>("motifs", "count every connected pattern of k vertices");
}

}  // namespace slimgraph
