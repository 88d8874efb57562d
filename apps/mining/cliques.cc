// `slimgraph triangles` and `slimgraph cliques`.
#include "dkudu/cliques.h"

#include "apps/commands.h"
#include "apps/mining/mining_command.h"

namespace slimgraph {
namespace {

Status Count(JobRun& run, const MiningCommandOptions& options, unsigned size, const char* name) {
  const auto work = [&](JobRun&, const GraphSource&, dkudu::MiningJob& job) -> Status {
    SLIM_ASSIGN(const std::uint64_t count, dkudu::CountCliques(job, size));
    run.report.Set("/result/count", count);
    run.text += fmt::format("{}: {}\n", name, count);
    return {};
  };
  const auto bytes = [&](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& mining) {
    return dkudu::CliqueBytes(graph, mining, size);
  };
  return RunMiningJob(run, options, dkudu::ListPart::kUpper, bytes, work);
}

}  // namespace

Command TrianglesCommand() {
  const auto state = std::make_shared<MiningCommandOptions>();
  const auto declare = [state](Options& options) { DeclareMiningOptions(options, *state); };
  const auto run = [state](const std::vector<std::string>& arguments) {
    return RunMiningCommand("triangles", *state, arguments, [state](JobRun& job_run) {
      return Count(job_run, *state, 3, "triangles");
    });
  };
  return {"triangles", "count the triangles of a graph", declare, run};
}

Command CliquesCommand() {
  struct State {
    MiningCommandOptions common;
    unsigned size = 0;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options
        .Number("-k", "K", "the vertices of a clique, 3..8", state->size, dkudu::kMinClique,
                dkudu::kMaxClique)
        .Required();
    DeclareMiningOptions(options, state->common);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    return RunMiningCommand("cliques", state->common, arguments, [state](JobRun& job_run) {
      job_run.report.Set("/options/k", std::uint64_t{state->size});
      const std::string name = fmt::format("{}-cliques", state->size);
      return Count(job_run, state->common, state->size, name.c_str());
    });
  };
  return {"cliques", "count the cliques of k vertices", declare, run};
}

}  // namespace slimgraph
