#include "apps/job/job_runner.h"

#include <algorithm>
#include <cstdio>

#include "apps/command.h"
#include "apps/job/attached_job.h"
#include "apps/job/job_node.h"
#include "slimgraph/launch/last_line.h"
#include "slimgraph/launch/local_job.h"
#include "slimgraph/launch/started_by.h"

namespace slimgraph {
namespace {

// Checks the options against each other and against the launcher, before anything is started.
// Returns the number of nodes.
Result<NodeId> CheckJobOptions(const JobOptions& options) {
  const bool started = StartedBy() != Starter::kNobody;
  const NodeId nodes = options.nodes.value_or(started ? StartedNodes() : options.nodes_if_alone);
  if (started && nodes != StartedNodes()) {
    return UsageError(
        "the launcher started {} process{}, but --nodes is {}; leave --nodes out, or start as many",
        StartedNodes(), StartedNodes() == 1 ? "" : "es", nodes);
  }
  SLIM_TRY(Topology::Make(nodes, options.compute.value_or(nodes)));
  if (!options.transport.empty()) SLIM_TRY(CheckTransport(options.transport));
  SLIM_TRY(CheckNetwork(options.network));
  if (started && options.limits.any() && !OfLimitedNodes()) {
    return UsageError(
        "--cpu-share and --node-memory limit nodes that --nodes starts here, not a launcher's");
  }
  if (options.qps_per_peer != 1 && options.transport != "verbs") {
    return UsageError("--qps-per-peer needs --transport verbs: the others have no queue pairs");
  }
  return nodes;
}

Result<int> StartNodes(NodeId nodes, const JobOptions& options,
                       const std::vector<std::string>& arguments) {
  std::optional<NodeGroups> groups;
  if (options.limits.any()) {
    SLIM_ASSIGN(auto made, NodeGroups::Make(nodes, options.limits));
    groups.emplace(std::move(made));
    groups->Announce();
  }
  return RunLocalJob(nodes, arguments, options.survives_deaths ? OnDeath::kGoOn : OnDeath::kEndJob);
}

}  // namespace

void SetOptions(Report& report) {
  for (const auto& [name, value] : TheInvocation().options) report.Set("/options/" + name, value);
  report.Set("/given", TheInvocation().given);
}

int PrintError(const Error& error) {
  // All processes of a job see the same wrong usage; one message is enough.
  if (StartedRank() == 0) {
    WriteLastLine(error.exit_code(), fmt::format("slimgraph: {}\n", error.message));
  }
  return error.exit_code();
}

std::function<void(const MemoryPlan&)> AnnounceMemory(JobRun& run) {
  return [&run](const MemoryPlan& plan) {
    if (run.cluster.self() != 0) return;
    std::vector<std::uint64_t> node_bytes = plan.node_bytes;
    if (run.phases != nullptr) {
      std::uint64_t& most = run.phases->announced_bytes;
      node_bytes[0] = most = std::max(most, node_bytes[0]);
    }
    run.report.Set("/memory/announced_bytes", node_bytes);
    std::fputs(fmt::format("slimgraph: {}\n", Describe(plan)).c_str(), stderr);
  };
}

int RunJob(const std::string& command, const JobOptions& options,
           const std::vector<std::string>& arguments, const Application& application) {
  if (options.standing) return RunAttachedJob(command, options, arguments, application);
  if (options.survive || !options.schedule.empty()) {
    return PrintError(UsageError("{} is for a graph of a pool, NAME:G",
                                 options.survive ? "--survive" : "--compute-schedule")
                          .value());
  }
  if (options.access || options.host_of) {
    const char* const given = options.access ? "--access" : "--host-of";
    return PrintError(UsageError("{} is for a graph of a pool, NAME:G", given).value());
  }
  const auto nodes = CheckJobOptions(options);
  if (!nodes) return PrintError(nodes.error());
  if (StartedBy() == Starter::kNobody && (*nodes > 1 || options.limits.any())) {
    const auto code = StartNodes(*nodes, options, arguments);
    return code ? *code : PrintError(code.error());
  }
  if (const Status entered = EnterNodeGroups(StartedRank()); !entered) {
    return PrintError(entered.error());
  }
  if (options.survives_deaths) LeaveMpiexec();
  const auto job =
      Job::JoinFromEnvironment(options.transport == "mpi" ? PmiUse::kMpi : PmiUse::kFormJob);
  if (!job) return PrintError(job.error());
  Report report(command);
  return RunInJob(**job, options, report, {}, nullptr, application);
}

}  // namespace slimgraph
