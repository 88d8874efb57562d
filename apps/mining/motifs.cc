// `slimgraph motifs`: every connected pattern of k vertices, vertex-induced.
#include "dkudu/motifs.h"

#include "apps/commands.h"
#include "apps/mining/mining_command.h"

namespace slimgraph {
namespace {

Status Count(JobRun& run, const MiningCommandOptions& options, unsigned vertices) {
  const auto work = [&](JobRun&, const GraphSource&, dkudu::MiningJob& job) -> Status {
    SLIM_ASSIGN(const auto motifs, dkudu::CountMotifs(job, vertices, dkudu::Induced::kVertex));
    for (const dkudu::MotifCount& motif : motifs) {
      run.report.Set("/result/counts/" + motif.name, motif.count);
      run.text += fmt::format("{}: {}\n", motif.name, motif.count);
    }
    return {};
  };
  run.report.Set("/options/k", std::uint64_t{vertices});
  const auto bytes = [&](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& mining) {
    return dkudu::MotifBytes(graph, mining, vertices);
  };
  return RunMiningJob(run, options, vertices == 3 ? dkudu::ListPart::kUpper : dkudu::ListPart::kAll,
                      bytes, work);
}

}  // namespace

Command MotifsCommand() {
  struct State {
    MiningCommandOptions common;
    unsigned vertices = 0;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Number("-k", "K", "the vertices of a pattern, 3 or 4", state->vertices, 3, 4)
        .Required();
    DeclareMiningOptions(options, state->common);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    return RunMiningCommand("motifs", state->common, arguments, [state](JobRun& job_run) {
      return Count(job_run, state->common, state->vertices);
    });
  };
  return {"motifs", "count every connected pattern of k vertices", declare, run};
}

}  // namespace slimgraph
