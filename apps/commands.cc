#include "apps/commands.h"

namespace slimgraph {

std::vector<Command> AllCommands() {
  return {GenCommand(),         ConvertCommand(),    InfoCommand(),        ScanCommand(),
          BfsCommand(),         HopsCommand(),       SsspCommand(),        PageRankCommand(),
          ComponentsCommand(),  CentralityCommand(), CdlpCommand(),        CoresCommand(),
          TrianglesCommand(),   MotifsCommand(),     CliquesCommand(),     MatchCommand(),
          LocalCommand(),       LccCommand(),        DoctorCommand(),      BenchFabricCommand(),
          StoreCreateCommand(), StoreApplyCommand(), StoreExportCommand(), TxnRunCommand(),
          TxnSweepCommand(),    TxnChooseCommand(),  ExperimentCommand(),  CompareCommand(),
          LaunchCommand(),      MemoryNodeCommand()};
}

}  // namespace slimgraph
