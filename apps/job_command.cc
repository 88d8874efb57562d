#include "apps/job_command.h"

#include "slimgraph/base/units.h"

namespace slimgraph {

void DeclareJobOptions(Options& options, JobOptions& job) {
  options.RunsAsJob();
  const std::string nodes_help =
      fmt::format("nodes that hold the graph (default {})", job.nodes_if_alone);
  options.Number("--nodes", "N", nodes_help.c_str(), job.nodes);
  options.Number("--compute", "C", "nodes that compute; the others only hold memory (default all)",
                 job.compute);
  options.Number("--threads", "T", "threads of each compute node (default 1)", job.threads);
  options.Text("--transport", "NAME", "shm, tcp, mpi or verbs (default shm, across machines tcp)",
               job.transport);
  options.Text("--network", "NAME", "imitate a network: none, fdr, edr, efa, tcp10", job.network);
  options.Number("--qps-per-peer", "K",
                 "verbs: queue pairs to each node, used in turn as in a larger cluster (default 1)",
                 job.qps_per_peer);
  options.Value("--cpu-share", "PERCENT",
                "each node gets so much of a processor and no more (control groups)",
                [&job](const std::string& text) -> Status {
                  SLIM_ASSIGN(job.limits.cpu_percent, ParseNumber<std::uint32_t>(text));
                  if (job.limits.cpu_percent > 0) return {};
                  return UsageError("a share of 0 % would never get anything done");
                });
  options.Value("--node-memory", "BYTES",
                "each node may hold so much: what needs more is refused, or ended (control groups)",
                [&job](const std::string& text) -> Status {
                  SLIM_ASSIGN(job.limits.memory_bytes, ParseBytes(text));
                  if (job.limits.memory_bytes > 0) return {};
                  return UsageError("a node cannot do without memory");
                });
  options.Flag("--json", "the result as one JSON object", job.json);
  options.Text("--trace", "FILE", "what each thread did when, for chrome://tracing", job.trace);
}

}  // namespace slimgraph
