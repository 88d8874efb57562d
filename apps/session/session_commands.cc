// `slimgraph launch` starts a program that uses the library. `slimgraph memory-node` and
// `slimgraph compute-node` are what sessions start.
#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "slimgraph/session/launcher.h"
#include "slimgraph/session/memory_node.h"

namespace slimgraph {
namespace {

struct LaunchState {
  NodeId nodes = 1;
  std::optional<NodeId> compute;
  std::vector<std::string> program;
};

}  // namespace

Command LaunchCommand() {
  const auto state = std::make_shared<LaunchState>();
  const auto declare = [state](Options& options) {
    options.Number("--nodes", "N", "nodes that hold the graph", state->nodes, 1, kMaxNodes);
    options
        .Number("--compute", "C", "nodes that run the program; the others only hold memory",
                state->compute)
        .Default("all");
    options.Texts("PROGRAM", "", "the program and its arguments; put -- before it", state->program)
        .Required();
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto code =
        LaunchProgram(state->nodes, state->compute.value_or(state->nodes), state->program);
    return code ? *code : PrintError(code.error());
  };
  return {"launch", "run a program that uses the library on several nodes of this machine", declare,
          run};
}

namespace {

Command HelperCommand(const char* name, const char* summary, bool computes) {
  const auto run = [computes](const std::vector<std::string>&) {
    const Status served = ServeSession(computes);
    if (served) return 0;
    // The program of the session has other errors as well.
    if (served.error().kind == ErrorKind::kUsage) return PrintError(served.error());
    return served.error().exit_code();
  };
  return {name, summary, [](Options& options) { options.RunsAsJob(); }, run};
}

}  // namespace

Command MemoryNodeCommand() {
  return HelperCommand(kMemoryNodeCommand, "hold memory for a session, which starts it",
                       /*computes=*/false);
}

Command ComputeNodeCommand() {
  return HelperCommand(kComputeNodeCommand, "compute for a session, which starts it",
                       /*computes=*/true);
}

}  // namespace slimgraph
