#include <vector>

#include "apps/commands.h"
#include "apps/vertex/vertex_job.h"
#include "dgemini/programs.h"
#include "dgemini/serial.h"

namespace slimgraph {
namespace {

class IndependentSetApplication : public VertexApplication {
 public:
  void Declare(Options& options) override {
    options.Number("--seed", "S", "determines the random order, and so the set", seed_);
  }

  Status Prepare(const GraphSource&, const OriginalIds& ids) override {
    ids_ = &ids;
    return {};
  }
  bool IgnoresDirections() const override { return true; }
  dgemini::WorkloadNeeds Needs(dgemini::Mode) const override {
    return dgemini::IndependentSetNeeds();
  }
  Status Compute(dgemini::Engine& engine) override {
    SLIM_ASSIGN(member_, dgemini::IndependentSet(engine, *ids_, seed_));
    return {};
  }
  Status Gather(dgemini::Engine& engine) override { return engine.Gather(member_); }

  Status ReportResult(dgemini::Engine& engine, JobRun& run) override {
    SLIM_ASSIGN(const double size, engine.Sum([&](VertexId v) { return member_[v] ? 1.0 : 0.0; }));
    run.report.Set("/options/seed", seed_);
    run.report.Set("/result/members", static_cast<std::uint64_t>(size));
    run.text += fmt::format("a maximal independent set of {:.0f} vertices\n", size);
    return {};
  }

  // No edge joins two members, every other vertex has a neighbour that is a member, and the set is
  // the one that the seed determines.
  Status Verify(const Csr& out_lists) override {
    std::vector<bool> covered(out_lists.vertices());
    for (VertexId u = 0; u < out_lists.vertices(); ++u) {
      for (const VertexId v : out_lists.list(u)) {
        if (u == v) continue;
        if (member_[u] && member_[v]) {
          return VerificationError("an edge joins vertices {} and {} (counted from 0) of the set",
                                   u, v);
        }
        if (member_[u]) covered[v] = true;
        if (member_[v]) covered[u] = true;
      }
    }
    for (VertexId v = 0; v < out_lists.vertices(); ++v) {
      if (member_[v] || covered[v]) continue;
      return VerificationError(
          "vertex {} (counted from 0) is not in the set, and neither is a neighbour of it", v);
    }
    const auto expected = dgemini::serial::IndependentSet(out_lists, *ids_, seed_);
    for (VertexId v = 0; v < out_lists.vertices(); ++v) {
      if (member_[v] == expected[v]) continue;
      return VerificationError("vertex {} (counted from 0) {}, and the seed determines otherwise",
                               v, member_[v] ? "is in the set" : "is not in the set");
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override { line += member_[v] ? '1' : '0'; }

 private:
  std::uint64_t seed_ = 1;
  const OriginalIds* ids_ = nullptr;
  dgemini::VertexArray<std::uint8_t> member_;
};

}  // namespace

Command IndependentSetCommand() {
  return VertexCommand<IndependentSetApplication>("mis", "a maximal independent set of vertices",
                                                  {"independent-set"});
}

}  // namespace slimgraph
