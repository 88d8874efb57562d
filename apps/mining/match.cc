// `slimgraph match`: any small pattern, counted, explained or listed.
#include "dkudu/match.h"

#include "apps/commands.h"
#include "apps/mining/embedding_file.h"
#include "apps/mining/mining_command.h"
#include "dkudu/formula.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

struct MatchState {
  MiningCommandOptions common;
  std::string pattern;
  dkudu::Induced induced = dkudu::Induced::kEdge;
  bool explain = false;
  bool formulae = true;
  std::string list;
  std::optional<std::uint64_t> limit;
};

Result<std::uint64_t> WriteMatches(const MatchState& state, JobRun& run, const GraphSource& file,
                                   dkudu::MiningJob& job, const dkudu::Plan& plan) {
  run.text_to_stderr = IsStandardOutput(state.list);
  SLIM_ASSIGN(const auto out, EmbeddingFile::Create(run.cluster, file, job.graph, plan.pattern,
                                                    state.list, state.limit));
  SLIM_ASSIGN(const std::uint64_t listed, dkudu::ListMatches(job, plan, [&](std::uint32_t thread) {
                return out->SinkOf(thread);
              }));
  SLIM_TRY(out->Finish());
  return listed;
}

Result<std::uint64_t> Count(dkudu::MiningJob& job, const dkudu::Plan& plan,
                            const std::optional<dkudu::Formula>& formula) {
  return formula ? dkudu::CountByFormula(job, *formula) : dkudu::CountMatches(job, plan);
}

Status Match(const MatchState& state, JobRun& run) {
  SLIM_ASSIGN(const dkudu::Pattern pattern, dkudu::Pattern::Find(state.pattern));
  const bool lists = !state.list.empty();
  const auto formula =
      lists || !state.formulae ? std::nullopt : dkudu::FormulaFor(pattern, state.induced);
  const auto plan_for = [&](const dkudu::MiningGraph& graph) {
    return dkudu::CompilePlan(pattern, state.induced, dkudu::FiguresOf(graph), lists);
  };
  const auto bytes = [&](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& options) {
    if (formula) return formula->Bytes(graph, options);
    return dkudu::MatchBytes(graph, options, plan_for(graph));
  };
  const auto work = [&](JobRun&, const GraphSource& file, dkudu::MiningJob& job) -> Status {
    const dkudu::Plan plan = plan_for(job.graph);
    const std::string explained = dkudu::Explain(plan) + (formula ? formula->Explain() : "");
    run.report.Set("/plan/text", explained);
    run.report.Set("/plan/estimated_work", plan.work);
    run.report.Set("/plan/formula", formula.has_value());
    if (state.explain) {
      run.text += explained;
      return {};
    }
    SLIM_ASSIGN(const std::uint64_t count,
                lists ? WriteMatches(state, run, file, job, plan) : Count(job, plan, formula));
    run.report.Set("/result/count", count);
    run.text +=
        fmt::format("{}: {}{}\n", pattern.name(), count, lists ? " listed in " + state.list : "");
    return {};
  };
  run.report.Set("/options/pattern", state.pattern);
  run.report.Set("/options/induced",
                 std::string(state.induced == dkudu::Induced::kVertex ? "vertex" : "edge"));
  MiningCommandOptions common = state.common;
  common.prints_ids = lists;
  return RunMiningJob(run, common, formula ? formula->part() : dkudu::ListPart::kAll, bytes, work);
}

}  // namespace

Command MatchCommand() {
  const auto state = std::make_shared<MatchState>();
  const auto declare = [state](Options& options) {
    const std::string pattern_help = "an edge list, or one of " + dkudu::PatternNames();
    options.Text("--pattern", "FILE|NAME", pattern_help.c_str(), state->pattern).Required();
    options.Choice("--induced",
                   "whether the graph may have edges between an embedding's vertices that the "
                   "pattern does not have (edge) or not (vertex)",
                   {"vertex", "edge"}, state->induced);
    options.Flag("--explain", "print the plan and do not match", state->explain);
    options.Flag("--no-formulae", "match by the plan even if a formula for the count is known",
                 [state] { state->formulae = false; });
    Option& list = options
                       .Text("-o,--list", "OUT",
                             "write the embeddings to OUT, which appears when it is complete; -: "
                             "standard output",
                             state->list)
                       .Default("count them");
    options.Number("--limit", "L", "list no more than L", state->limit).Default("all").Needs(list);
    DeclareMiningOptions(options, state->common);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    const Status output = CheckOutput(state->list, state->common.job.json);
    if (!output) return PrintError(output.error());
    return RunMiningCommand("match", state->common, arguments,
                            [state](JobRun& job_run) { return Match(*state, job_run); });
  };
  return {"match",
          "count or list the embeddings of a pattern (subgraph isomorphism)",
          declare,
          run,
          {"pattern", "subgraph"}};
}

}  // namespace slimgraph
