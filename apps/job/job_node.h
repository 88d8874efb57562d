// One process of a job, once the job has formed.
#pragma once

#include <memory>
#include <optional>

#include "apps/job/job_runner.h"
#include "slimgraph/launch/job.h"
#include "slimgraph/pool/attach.h"
#include "slimgraph/remote/standing_graph.h"

namespace slimgraph {

// What a job has of a pool.
struct OfPool {
  std::unique_ptr<StandingGraph> graph;  // null: the job is not attached to a pool
  std::optional<StandingHere> part;      // of a view
};

// Runs the application on this node, and reports on node 0. Returns the exit code. `phases`: null
// if the compute nodes do not change. If they do, node 0 calls it again for the next ones, with the
// same report.
int RunInJob(Job& job, const JobOptions& options, Report& report, const OfPool& of_pool,
             Phases* phases, const Application& application);
// The same on a node that has joined with OnLoss::kReport: returns the error of a failed job. Then
// job.loss() says which node was lost; nothing: this node has failed.
Result<int> TryInJob(Job& job, const JobOptions& options, Report& report, const OfPool& of_pool,
                     Phases* phases, const Application& application);

}  // namespace slimgraph
