// What all commands that run vertex programs share: their options, the course of the job, the
// output file, and the comparison with a serial computation.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.h"
#include "apps/job_runner.h"
#include "dgemini/engine.h"
#include "slimgraph/graph/csr.h"

namespace slimgraph {

// A command's own part. One object per process; the functions are called in this order.
class VertexApplication {
 public:
  virtual ~VertexApplication() = default;

  // On every node: looks at the options against the graph. Sources are given as original ids.
  virtual Status Prepare(const GraphSource& file, const OriginalIds& ids) = 0;
  // What of the graph it needs; `mode` as the options have it.
  virtual WorkloadNeeds Needs(Mode mode) const = 0;
  // On every node, when the graph is loaded; collective.
  virtual Status Examine(Cluster& cluster, const Workload& work);
  // On the compute nodes, maybe several times.
  virtual Status Compute(Engine& engine) = 0;
  // Brings the values to node 0.
  virtual Status Gather(Engine& engine) = 0;
  // On the compute nodes, before values are gathered: the result in the report and in words.
  virtual Status Describe(Engine& engine, Run& run) = 0;
  // On node 0: the result against a serial computation over `out_lists`.
  virtual Status Verify(const Csr& out_lists) = 0;
  // On node 0: a vertex's value as it stands in the output file.
  virtual void Print(VertexId v, std::string& line) const = 0;
};

struct VertexOptions {
  JobOptions job;
  std::string graph;
  Mode mode = Mode::kAuto;
  CacheOptions cache;
  std::string output;
  bool verify = false;
  std::uint64_t repeat = 1;
};

void DeclareVertexOptions(Options& options, VertexOptions& vertex);

Status RunVertexApplication(Run& run, const VertexOptions& options, VertexApplication& application);

// The dense id of the vertex that the user calls `id`.
Result<VertexId> FindVertex(const OriginalIds& ids, std::uint64_t id, const char* what = "source");

// A command whose own options are declared by `declare`, which fills `application`.
template <typename Application>
Command VertexCommand(const char* name, const char* summary) {
  struct State {
    VertexOptions options;
    Application application;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("GRAPH", "the .slim file", state->options.graph);
    state->application.Declare(options);
    DeclareVertexOptions(options, state->options);
  };
  const auto run = [state, name](const std::vector<std::string>& arguments) {
    return RunJob(name, state->options.job, arguments, [state](Run& job_run) {
      return RunVertexApplication(job_run, state->options, state->application);
    });
  };
  return {name, summary, declare, run};
}

}  // namespace slimgraph
