// Runs an application as a job of N nodes: starts a local job or joins the one that a launcher
// started, gives the application its cluster, and prints the result or the error.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/job/phases.h"
#include "slimgraph/base/result.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/memory_plan.h"
#include "slimgraph/launch/node_limits.h"
#include "slimgraph/remote/cache_options.h"
#include "slimgraph/stats/report.h"
#include "slimgraph/stats/stage_times.h"

namespace slimgraph {

class StandingGraph;
struct StandingHere;

// A graph that stands in a pool, "NAME:G" on the command line.
struct PoolGraph {
  std::string pool;
  std::string graph;
  // The view that the job needs (slimgraph/pool/attach.h).
  std::function<Result<std::string>(const StandingGraph& graph)> view_of = {};
  bool views_are_graphs = false;  // and the job runs on the view, as its StandingGraph
};

struct JobOptions {
  std::optional<PoolGraph> standing;  // attach to this pool instead of starting memory nodes
  std::optional<NodeId> nodes;        // nullopt: as many as the launcher started
  std::optional<NodeId> compute;      // nullopt: all nodes
  // On a pool: the compute nodes change between two steps, if the application may be continued by
  // others; with a schedule, at these steps.
  bool may_move = false;
  std::string stays_with = {};  // the option with which it may not
  std::vector<ComputeFrom> schedule = {};
  bool survive = false;  // on a pool: go on when a node other than 0 has died
  // On a pool, if given: see CacheOptions.
  std::optional<Access> access = {};
  std::optional<NodeId> host_of = {};
  NodeId nodes_if_alone = 1;  // number of nodes without a launcher and without --nodes
  std::uint32_t threads = 1;
  std::uint32_t serving_threads = 0;  // further threads that answer requests of other nodes
  bool survives_deaths = false;       // the job continues when a node other than 0 has died
  std::string transport;              // "": shm where all nodes are on one machine, else tcp
  std::string network = "none";
  std::uint32_t qps_per_peer = 1;
  NodeLimits limits;  // of each node, on this machine
  bool json = false;
  std::string trace;  // a file; "": none
};

// One run of an application: its cluster, and what it reports. Only node 0's `report` is used.
struct JobRun {
  Cluster& cluster;
  Report& report;
  const StandingGraph* standing = nullptr;  // the graph, if the job is attached to a pool
  const StandingHere* part = nullptr;       // this node's part of a view of it
  std::vector<StageSeconds> seconds;        // by thread
  std::string text;                         // node 0: the result in words
  // Times and traffic; the application has set them when it returns.
  double load_s = 0;
  double run_s = 0;
  Traffic load_traffic;
  std::optional<Traffic> run_traffic = {};  // nullopt: all that the fabric has counted
  std::uint64_t began_ns = 0;               // when this node began to compute, and when it ended
  std::uint64_t ended_ns = 0;
  // If the application may be continued by other compute nodes: what this process knows of phases.
  Phases* phases = nullptr;
  // The application has been left, and so many compute nodes follow; the same on all nodes.
  NodeId moves_to = 0;
  bool appends_traffic = true;  // `text` is for people; a line about the traffic is appended
  bool text_to_stderr = false;  // standard output has another output of the command
  int exit_code = 0;  // not 0: a part of the work failed, which was reported; same on all nodes
};

// For SharedGraph::Load: prints how much memory each node will need, before nodes allocate it.
std::function<void(const MemoryPlan&)> AnnounceMemory(JobRun& run);

using Application = std::function<Status(JobRun&)>;

// `arguments` is the command line; the nodes of a local job are started with it. Returns the exit
// code.
int RunJob(const std::string& command, const JobOptions& options,
           const std::vector<std::string>& arguments, const Application& application);

// Adds the options of the command, under /options, and the names of those that the user has given,
// under /given.
void SetOptions(Report& report);

// Prints "slimgraph: " and the error, on rank 0 alone, and returns the error's exit code.
int PrintError(const Error& error);

}  // namespace slimgraph
