// `slimgraph launch` starts a program that uses the library. `slimgraph memory-node` is what
// sessions start.
#include <cstdlib>

#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "slimgraph/cluster/topology.h"
#include "slimgraph/launch/local_job.h"
#include "slimgraph/session/memory_node.h"

namespace slimgraph {
namespace {

struct LaunchState {
  NodeId nodes = 1;
  std::optional<NodeId> compute;
  std::vector<std::string> program;
};

Result<int> Launch(const LaunchState& state) {
  if (state.program.empty()) return UsageError("launch needs PROGRAM: what the compute nodes run");
  const NodeId compute = state.compute.value_or(state.nodes);
  SLIM_TRY(Topology::Make(state.nodes, compute));
  ::setenv(kComputeVariable, fmt::format("{}", compute).c_str(), 1);
  std::vector<LocalProgram> programs = {
      {compute, state.program[0], {state.program.begin() + 1, state.program.end()}}};
  if (compute < state.nodes) {
    programs.push_back({static_cast<NodeId>(state.nodes - compute), "", {kMemoryNodeCommand}});
  }
  return RunLocalPrograms(programs);
}

}  // namespace

Command LaunchCommand() {
  const auto state = std::make_shared<LaunchState>();
  const auto declare = [state](Options& options) {
    options.Number("--nodes", "N", "nodes that hold the graph", state->nodes, 1, kMaxNodes);
    options
        .Number("--compute", "C", "nodes that run the program; the others only hold memory",
                state->compute)
        .Default("all");
    options.Texts("PROGRAM", "", "the program and its arguments; put -- before it", state->program);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto code = Launch(*state);
    return code ? *code : PrintError(code.error());
  };
  return {"launch", "run a program that uses the library on several nodes of this machine", declare,
          run};
}

Command MemoryNodeCommand() {
  const auto run = [](const std::vector<std::string>&) {
    const Status served = ServeSession();
    if (served) return 0;
    // The program of the session has other errors as well.
    if (served.error().kind == ErrorKind::kUsage) return PrintError(served.error());
    return served.error().exit_code();
  };
  return {kMemoryNodeCommand, "hold memory for a session, which starts it",
          [](Options& options) { options.RunsAsJob(); }, run};
}

}  // namespace slimgraph
