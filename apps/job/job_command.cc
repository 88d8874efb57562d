#include "apps/job/job_command.h"

#include "slimgraph/base/units.h"

namespace slimgraph {

void DeclareJobOptions(Options& options, JobOptions& job) {
  options.RunsAsJob();
  options.Number("--nodes", "N", "nodes that hold the graph", job.nodes)
      .Default(fmt::format("{}, or as many as a launcher starts", job.nodes_if_alone));
  options.Number("--compute", "C", "nodes that compute; the others only hold memory", job.compute)
      .Default("all");
  options.Number("--threads", "T", "threads of each compute node", job.threads, 1, 256);
  options.Text("--transport", "NAME", "shm, tcp, mpi or verbs", job.transport)
      .Default("shm on one machine, tcp across machines");
  options.Text("--network", "NAME",
               "imitate a network: none; fdr or edr (InfiniBand of 56 or 100 Gb/s), efa (Amazon's "
               "Elastic Fabric Adapter), tcp10 (TCP over 10 Gb/s)",
               job.network);
  options.Number("--qps-per-peer", "K",
                 "verbs: queue pairs to each node, used in turn to imitate a larger cluster",
                 job.qps_per_peer, 1, kMaxQpsPerPeer);
  options
      .Value("--cpu-share", "PERCENT",
             "limit each node to this share of one processor (control groups)",
             [&job](const std::string& text) -> Status {
               SLIM_ASSIGN(job.limits.cpu_percent, ParseNumber<std::uint32_t>(text));
               if (job.limits.cpu_percent > 0) return {};
               return UsageError("the share must be more than 0 %");
             })
      .Default("no limit")
      .Shown(ShownAs::kNumber, std::nullopt);
  options
      .Value("--node-memory", "BYTES",
             "memory limit of each node: a job that needs more is refused or killed "
             "(control groups)",
             [&job](const std::string& text) -> Status {
               SLIM_ASSIGN(job.limits.memory_bytes, ParseBytes(text));
               if (job.limits.memory_bytes >= kLeastNodeMemoryBytes) return {};
               return UsageError("{} is too little: a node does not start with less than {}",
                                 FormatBytes(job.limits.memory_bytes),
                                 FormatBytes(kLeastNodeMemoryBytes));
             })
      .Default("no limit")
      .Shown(ShownAs::kBytes, std::nullopt);
  options.Flag("--json", "the result as one JSON object", job.json);
  options.Text("--trace", "FILE", "a timeline of every thread, for chrome://tracing", job.trace)
      .Default("no trace");
}

void DeclareMoves(Options& options, JobOptions& job, const char* changes, const char* keeps) {
  options
      .Value("--compute-schedule", "C@STEP,...",
             fmt::format("on a pool: the number of compute nodes changes {}", changes).c_str(),
             [&job](const std::string& text) -> Status {
               SLIM_ASSIGN(job.schedule, ParseComputeSchedule(text));
               return {};
             })
      .Default("--compute, for the whole job");
  options.Flag("--survive",
               fmt::format("on a pool: keep {} on this host, and go on from there if a compute "
                           "node, or a node of the pool that has copies, dies",
                           keeps)
                   .c_str(),
               job.survive);
}

void DeclareListAccess(Options& options, EdgeBudget& budget, JobOptions& job) {
  budget.automatic = true;
  options
      .Value(
          "--edge-cache", "BYTES|PERCENT|auto",
          "memory of each compute node to cache other nodes' lists: lists that do not fit are "
          "fetched each time. PERCENT: of all such lists; auto: room for all of them, but at most "
          "half of the memory that is free for a node",
          [&budget](const std::string& text) -> Status {
            SLIM_ASSIGN(budget, ParseEdgeBudget(text));
            return {};
          })
      .Default("auto")
      .Shown(ShownAs::kText, "auto");
  Option& access =
      options
          .Value("--access", "in-place|read",
                 "on a pool over shm: use lists where they are, or copy them as from another host, "
                 "which counts their bytes",
                 [&job](const std::string& text) -> Status {
                   if (text != "in-place" && text != "read") {
                     return UsageError("expected in-place or read, found '{}'", text);
                   }
                   job.access = text == "read" ? Access::kRead : Access::kInPlace;
                   return {};
                 })
          .Default("in-place");
  options
      .Number("--host-of", "NODE",
              "on a pool over shm: work as on the host of that node of the pool, whose lists are "
              "used where they are, while those of all other nodes are copied",
              job.host_of)
      .Default("all nodes are on this host")
      .Excludes(access);
}

}  // namespace slimgraph
