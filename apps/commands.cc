// The list of all commands. A new one needs its line here and nothing else.
#include "apps/bench_command.h"
#include "apps/doctor_command.h"
#include "apps/experiment_commands.h"
#include "apps/graph_commands.h"
#include "apps/mining.h"
#include "apps/scan.h"
#include "apps/store_commands.h"
#include "apps/txn_commands.h"
#include "apps/vertex_commands.h"

namespace slimgraph {

std::vector<Command> AllCommands() {
  return {GenCommand(),         ConvertCommand(),    InfoCommand(),        ScanCommand(),
          BfsCommand(),         SsspCommand(),       PageRankCommand(),    ComponentsCommand(),
          CentralityCommand(),  TrianglesCommand(),  MotifsCommand(),      CliquesCommand(),
          MatchCommand(),       LocalCommand(),      DoctorCommand(),      BenchFabricCommand(),
          StoreCreateCommand(), StoreApplyCommand(), StoreExportCommand(), TxnRunCommand(),
          TxnSweepCommand(),    TxnChooseCommand(),  ExperimentCommand(),  CompareCommand()};
}

}  // namespace slimgraph
