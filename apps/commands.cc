#include "apps/commands.h"

namespace slimgraph {

std::vector<Command> AllCommands() {
  return {GenCommand(),         ConvertCommand(),
          InfoCommand(),        ScanCommand(),
          RunSeveralCommand(),  BfsCommand(),
          HopsCommand(),        SsspCommand(),
          PageRankCommand(),    ComponentsCommand(),
          CentralityCommand(),  CdlpCommand(),
          CoresCommand(),       IndependentSetCommand(),
          TrianglesCommand(),   MotifsCommand(),
          CliquesCommand(),     MatchCommand(),
          LocalCommand(),       LccCommand(),
          TrussCommand(),       DoctorCommand(),
          BenchFabricCommand(), StoreCreateCommand(),
          StoreApplyCommand(),  StoreIndexCommand(),
          StoreExportCommand(), TxnRunCommand(),
          TxnSweepCommand(),    TxnChooseCommand(),
          TxnReplayCommand(),   ExperimentCommand(),
          CompareCommand(),     PoolStartCommand(),
          PoolLoadCommand(),    PoolDropCommand(),
          PoolStatusCommand(),  PoolStopCommand(),
          PoolListCommand(),    PoolMetricsCommand(),
          PoolShareCommand(),   PoolAddCommand(),
          PoolForgetCommand(),  JobListCommand(),
          JobCancelCommand(),   JobResizeCommand(),
          LaunchCommand(),      MemoryNodeCommand(),
          ComputeNodeCommand(), PoolNodeCommand(),
          PoolHostCommand(),    PoolJoinCommand(),
          PoolLoaderCommand(),  PoolCacheCommand()};
}

std::string GroupSummary(std::string_view group) {
  if (group == "txn")
    return "run, sweep, choose and replay: transactions, their protocols and stages";
  if (group == "store")
    return "create, apply, index and export: graphs on disk that can be updated";
  if (group == "pool") return "start, load, status, stop, ...: memory that outlives jobs";
  if (group == "job") return "list and cancel: jobs that use a pool";
  if (group == "bench") return "fabric: latency and bandwidth of a transport";
  return "";
}

}  // namespace slimgraph
