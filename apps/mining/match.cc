// `slimgraph match`: any small pattern, counted, explained or listed.
#include "dkudu/match.h"

#include "apps/commands.h"
#include "apps/mining/embedding_file.h"
#include "apps/mining/verified_counts.h"
#include "dkudu/formula.h"

namespace slimgraph {
namespace {

class MatchPart : public MiningPart {
 public:
  void Declare(Options& options) override {
    const std::string pattern_help =
        "an edge list, in a file or such as 0-1,1-2,2-3, or one of " + dkudu::PatternNames();
    options.Text("--pattern", "FILE|EDGES|NAME", pattern_help.c_str(), pattern_name_).Required();
    options.Choice("--induced",
                   "whether the graph may have edges between an embedding's vertices that the "
                   "pattern does not have (edge) or not (vertex)",
                   {"vertex", "edge"}, induced_);
    options.Flag("--explain", "print the plan and do not match", explain_);
    options.Flag("--no-formulae", "match by the plan even if a formula for the count is known",
                 [this] { formulae_ = false; });
    Option& list =
        options
            .Text("-o,--list", "OUT",
                  "write the embeddings to OUT, which appears when it is complete; -: standard "
                  "output",
                  list_)
            .Default("count them");
    Option& limit = options.Number("--limit", "L", "list no more than L", limit_).Default("all");
    limit.Needs(list);
    verified_.Declare(options).Excludes(limit);
  }
  std::string output() const override { return list_; }
  bool may_move() const override { return true; }
  std::string stays_with() const override { return list_.empty() ? "" : "--list"; }

  Result<dkudu::ListPart> Lists() override {
    SLIM_ASSIGN(pattern_, dkudu::Pattern::Find(pattern_name_));
    const bool counts = list_.empty();
    formula_ = counts && formulae_ ? dkudu::FormulaFor(*pattern_, induced_) : std::nullopt;
    return formula_ ? formula_->part() : dkudu::ListPart::kAll;
  }
  std::optional<SpelledOption> Spelled() const override {
    return SpelledOption{"pattern", pattern_name_, pattern_->Spelled()};
  }
  Result<MiningStep> Step(JobRun& run) override {
    run.report.Set("/options/pattern", pattern_name_);
    run.report.Set("/options/induced",
                   std::string(induced_ == dkudu::Induced::kVertex ? "vertex" : "edge"));
    const auto bytes = [this](const dkudu::MiningGraph& graph,
                              const dkudu::MiningOptions& options) {
      const std::uint64_t more = verified_.Bytes(graph);
      if (formula_) return formula_->Bytes(graph, options) + more;
      return dkudu::MatchBytes(graph, options, PlanFor(graph)) + more;
    };
    const auto work = [this](JobRun& to, const GraphSource& file, dkudu::MiningJob& job) {
      return Match(to, file, job);
    };
    return MiningStep{.engine_bytes = bytes,
                      .work = work,
                      .prints_ids = !list_.empty(),
                      .finish = explain_ ? MiningWork() : verified_.Finish()};
  }

 private:
  dkudu::Plan PlanFor(const dkudu::MiningGraph& graph) const {
    return dkudu::CompilePlan(*pattern_, induced_, dkudu::FiguresOf(graph), !list_.empty());
  }

  Status Match(JobRun& run, const GraphSource& file, dkudu::MiningJob& job) {
    const dkudu::Plan plan = PlanFor(job.graph);
    const std::string explained = dkudu::Explain(plan) + (formula_ ? formula_->Explain() : "");
    run.report.Set("/plan/text", explained);
    run.report.Set("/plan/estimated_work", plan.work);
    run.report.Set("/plan/formula", formula_.has_value());
    if (explain_) {
      run.text += explained;
      return {};
    }
    const bool lists = !list_.empty();
    SLIM_ASSIGN(const std::uint64_t count,
                lists ? WriteMatches(run, file, job, plan) : Count(job, plan));
    run.report.Set("/result/count", count);
    verified_.Add(*pattern_, induced_, count);
    run.text +=
        fmt::format("{}: {}{}\n", pattern_->name(), count, lists ? " listed in " + list_ : "");
    return {};
  }

  Result<std::uint64_t> WriteMatches(JobRun& run, const GraphSource& file, dkudu::MiningJob& job,
                                     const dkudu::Plan& plan) const {
    run.text_to_stderr = IsStandardOutput(list_);
    SLIM_ASSIGN(const auto out,
                EmbeddingFile::Create(run.cluster, file, job.graph, plan.pattern, list_, limit_));
    SLIM_ASSIGN(
        const std::uint64_t listed,
        dkudu::ListMatches(job, plan, [&](std::uint32_t thread) { return out->SinkOf(thread); }));
    SLIM_TRY(out->Finish());
    return listed;
  }

  Result<std::uint64_t> Count(dkudu::MiningJob& job, const dkudu::Plan& plan) const {
    return formula_ ? dkudu::CountByFormula(job, *formula_) : dkudu::CountMatches(job, plan);
  }

  std::string pattern_name_;
  dkudu::Induced induced_ = dkudu::Induced::kEdge;
  bool explain_ = false;
  bool formulae_ = true;
  std::string list_;
  std::optional<std::uint64_t> limit_;
  std::optional<dkudu::Pattern> pattern_;
  std::optional<dkudu::Formula> formula_;
  VerifiedCounts verified_;
};

}  // namespace

Command MatchCommand() {
  return MiningCommand<MatchPart>(
      "match", "count or list the embeddings of a pattern (subgraph isomorphism)",
      {"pattern", "subgraph"});
}

}  // namespace slimgraph
