// Shared by all commands that run vertex programs: their options, the steps of the job, the output
// file, and the comparison with a serial computation.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/command.h"
#include "apps/graph/graph_input.h"
#include "apps/job/job_runner.h"
#include "apps/output/text_output.h"
#include "apps/part.h"
#include "dgemini/engine.h"
#include "slimgraph/files/csr.h"

namespace slimgraph {

// The part of a vertex command that is its own. There is one object per process; its functions are
// called in this order.
class VertexApplication : public Part {
 public:
  // Whether to take 1 for the weight of each edge.
  virtual bool unit_weights() const { return false; }
  // On every node: checks the options against the graph. Sources are given as original ids.
  virtual Status Prepare(const GraphSource& file, const OriginalIds& ids) = 0;
  // Whether the program reads a directed graph as BothDirections.
  virtual bool IgnoresDirections() const { return false; }
  // Which parts of the graph the program needs. `mode` is the option's value.
  virtual dgemini::WorkloadNeeds Needs(dgemini::Mode mode) const = 0;
  // Collective, on every node after the graph is loaded.
  virtual Status AfterLoad(Cluster& cluster, const dgemini::Workload& work);
  // On the compute nodes; may be called several times.
  virtual Status Compute(dgemini::Engine& engine) = 0;
  // Brings the values to node 0.
  virtual Status Gather(dgemini::Engine& engine) = 0;
  // On the compute nodes, before Gather(): adds the result to run.report and run.text.
  virtual Status ReportResult(dgemini::Engine& engine, JobRun& run) = 0;
  // On node 0: compares the result with a serial computation over `out_lists`.
  virtual Status Verify(const Csr& out_lists) = 0;
  // On node 0: appends the vertex's value to a line of the output file.
  virtual void Print(VertexId v, std::string& line) const = 0;
};

struct VertexOptions {
  JobOptions job;
  GraphInput graph;
  dgemini::Mode mode = dgemini::Mode::kAuto;
  CacheOptions cache;
  std::string output;
  bool verify = false;
  std::uint64_t repeat = 1;
};

void DeclareVertexOptions(Options& options, VertexOptions& vertex);

Status RunVertexApplication(JobRun& run, const VertexOptions& options,
                            VertexApplication& application);

// The graph of a pool, with the views of it that the applications need. These must outlive it.
PoolGraph WithVertexView(PoolGraph graph, std::vector<const VertexApplication*> applications);

// One of several applications on the same loaded graph.
struct VertexWork {
  VertexApplication& application;
  JobRun& run;  // gets its result
  std::string output;
};
// Loads the graph once, with what all applications need, and runs one after the other. Sets the
// times and the traffic of `run`.
Status RunVertexApplications(JobRun& run, const VertexOptions& options,
                             std::span<const VertexWork> works);

// The dense id of the vertex that the user calls `id`.
Result<VertexId> FindVertex(const OriginalIds& ids, std::uint64_t id, const char* what = "source");

// A command that runs `Application`. Application::Declare() declares its own options.
template <typename Application>
Command VertexCommand(const char* name, const char* summary,
                      std::vector<std::string> aliases = {}) {
  struct State {
    VertexOptions options;
    Application application;
  };
  const auto state = std::make_shared<State>();
  state->options.graph.may_stand = true;
  const auto declare = [state](Options& options) {
    DeclareGraph(options, state->options.graph);
    state->application.Declare(options);
    DeclareVertexOptions(options, state->options);
  };
  const auto run = [state, name](const std::vector<std::string>& arguments) {
    const Status output = CheckOutput(state->options.output, state->options.job.json);
    if (!output) return PrintError(output.error());
    const Status graph = ResolveGraph(state->options.graph);
    if (!graph) return PrintError(graph.error());
    if (const auto& standing = state->options.graph.standing) {
      state->options.job.standing = WithVertexView(*standing, {&state->application});
    }
    state->options.job.may_move = state->options.repeat <= 1;
    state->options.job.stays_with = "--repeat";
    return RunJob(name, state->options.job, arguments, [state](JobRun& job_run) {
      return RunVertexApplication(job_run, state->options, state->application);
    });
  };
  const auto make_part = [] { return std::make_unique<Application>(); };
  return {name, summary, declare, run, std::move(aliases), make_part};
}

}  // namespace slimgraph
