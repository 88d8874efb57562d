// All commands of `slimgraph`. Each is defined in a file of its family's folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/command.h"

namespace slimgraph {

// In the order of --help. A new command needs a declaration here and an entry in AllCommands().
std::vector<Command> AllCommands();

// What --help says about a group of commands, such as "txn".
std::string GroupSummary(std::string_view group);

// Graph files.
Command GenCommand();
Command ConvertCommand();
Command InfoCommand();
Command ScanCommand();

// Several of the following at once.
Command RunSeveralCommand();

// Vertex programs.
Command BfsCommand();
Command HopsCommand();
Command SsspCommand();
Command PageRankCommand();
Command ComponentsCommand();
Command CentralityCommand();
Command CdlpCommand();
Command CoresCommand();
Command IndependentSetCommand();

// Pattern mining.
Command TrianglesCommand();
Command MotifsCommand();
Command CliquesCommand();
Command MatchCommand();
Command LocalCommand();
Command LccCommand();
Command TrussCommand();

// Stores: graphs on disk that can be updated.
Command StoreCreateCommand();
Command StoreApplyCommand();
Command StoreExportCommand();
Command StoreIndexCommand();

// Transactions.
Command TxnRunCommand();
Command TxnSweepCommand();
Command TxnChooseCommand();
Command TxnReplayCommand();

// Standing pools, and what they start.
Command PoolStartCommand();
Command PoolLoadCommand();
Command PoolDropCommand();
Command PoolStatusCommand();
Command PoolStopCommand();
Command PoolMetricsCommand();
Command PoolShareCommand();
Command PoolAddCommand();
Command PoolForgetCommand();
Command JobListCommand();
Command JobCancelCommand();
Command JobResizeCommand();
Command PoolListCommand();
Command PoolNodeCommand();
Command PoolHostCommand();
Command PoolJoinCommand();
Command PoolCacheCommand();
Command PoolLoaderCommand();

// Programs that use the library.
Command LaunchCommand();
Command MemoryNodeCommand();
Command ComputeNodeCommand();

// The machine, and measuring.
Command DoctorCommand();
Command BenchFabricCommand();
Command ExperimentCommand();
Command CompareCommand();

}  // namespace slimgraph
