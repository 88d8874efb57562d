// `slimgraph motifs`: every connected pattern of k vertices, vertex-induced.
#include "dkudu/motifs.h"

#include "apps/mining.h"

namespace slimgraph {
namespace {

Status Count(Run& run, const MiningCommandOptions& options, unsigned vertices) {
  const auto work = [&](Run&, const GraphSource&, MiningJob& job) -> Status {
    SLIM_ASSIGN(const auto motifs, CountMotifs(job, vertices, Induced::kVertex));
    for (const MotifCount& motif : motifs) {
      run.report.Set("/result/counts/" + motif.name, motif.count);
      run.text += fmt::format("{}: {}\n", motif.name, motif.count);
    }
    return {};
  };
  run.report.Set("/options/k", std::uint64_t{vertices});
  return Mine(run, options, vertices == 3 ? ListPart::kUp : ListPart::kAll, work);
}

}  // namespace

Command MotifsCommand() {
  struct State {
    MiningCommandOptions common;
    unsigned vertices = 0;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Number("-k", "3|4", "the vertices of a pattern", state->vertices);
    DeclareMiningOptions(options, state->common);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (state->vertices != 3 && state->vertices != 4) {
      return Complain(
          {ErrorKind::kUsage, fmt::format("-k {} is out of range: 3 or 4", state->vertices)});
    }
    return RunJob("motifs", state->common.job, arguments,
                  [state](Run& job_run) { return Count(job_run, state->common, state->vertices); });
  };
  return {"motifs", "count every connected pattern of k vertices", declare, run};
}

}  // namespace slimgraph
