// Runs an application as a job of N nodes: starts the local job or joins the one that a launcher
// has started, lends the application the cluster, and tells the person how it went.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/memory_plan.h"
#include "slimgraph/launch/node_limits.h"
#include "slimgraph/stats/report.h"
#include "slimgraph/stats/stage_times.h"

namespace slimgraph {

struct JobOptions {
  std::optional<NodeId> nodes;    // otherwise as many as the launcher started
  std::optional<NodeId> compute;  // otherwise all
  NodeId nodes_if_alone = 1;      // without a launcher and without --nodes
  std::uint32_t threads = 1;
  std::uint32_t serving_threads = 0;  // what the command has besides, for other nodes' sake
  bool survives_deaths = false;       // the command goes on when a node other than 0 has died
  std::string transport;              // "": shm where all nodes are on one machine, else tcp
  std::string network = "none";
  std::uint32_t qps_per_peer = 1;
  NodeLimits limits;  // of each node, on this machine
  bool json = false;
  std::string trace;  // a file; "": none
};

// What an application has besides the cluster. Its `report` counts on node 0 alone.
struct Run {
  Cluster& cluster;
  Report& report;
  std::vector<StageSeconds> seconds;  // by thread
  std::string text;                   // node 0: the result in words
  // All sum up to what is known when the application returns.
  double load_s = 0;
  double run_s = 0;
  Traffic load_traffic;
  std::optional<Traffic> run_traffic = {};  // if it is not all that was counted since
  bool in_words = true;                     // `text` is for people, and ends with the traffic
  int exit_code = 0;  // otherwise a part of the work has failed, and the person knows; on all nodes
};

// For SharedGraph::Load: tells the person what each node will need, before it is taken.
std::function<void(const MemoryPlan&)> Announce(Run& run);

using Application = std::function<Status(Run&)>;

// `arguments` are the command line, for the nodes of a local job. Returns the exit code.
int RunJob(const std::string& command, const JobOptions& options,
           const std::vector<std::string>& arguments, const Application& application);

// What the person asked for, under /options.
void SetOptions(Report& report);

// Prints an error as the command does, and returns its exit code.
int Complain(const Error& error);

}  // namespace slimgraph
