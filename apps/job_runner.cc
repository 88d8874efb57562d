#include "apps/job_runner.h"

#include <unistd.h>

#include <cstdio>

#include "apps/command.h"
#include "apps/job_report.h"
#include "slimgraph/base/units.h"
#include "slimgraph/launch/local_job.h"
#include "slimgraph/launch/started_by.h"
#include "slimgraph/stats/trace.h"

namespace slimgraph {
namespace {

// The options against each other and against the launcher, before anything is started.
Result<NodeId> NodesOf(const JobOptions& options) {
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
        "--cpu-share and --node-memory are of nodes that --nodes starts here, not of a launcher's");
  }
  if (options.qps_per_peer != 1 && options.transport != "verbs") {
    return UsageError("--qps-per-peer is of --transport verbs: the others have no queue pairs");
  }
  if (options.qps_per_peer < 1 || options.qps_per_peer > kMaxQpsPerPeer) {
    return UsageError("--qps-per-peer {} is out of range: 1..{}", options.qps_per_peer,
                      kMaxQpsPerPeer);
  }
  if (options.threads < 1 || options.threads > 256) {
    return UsageError("--threads {} is out of range: 1..256", options.threads);
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

// An application's work as one node, with the report on node 0. The exit code.
Result<int> BeNode(Job& job, const std::string& command, const JobOptions& options,
                   const Application& application) {
  ClusterOptions cluster_options{options.compute.value_or(job.nodes()), options.threads,
                                 options.transport, options.network, options.qps_per_peer};
  cluster_options.serving_threads = options.serving_threads;
  if (cluster_options.transport.empty()) {
    cluster_options.transport = job.one_host() ? "shm" : "tcp";
  }
  SLIM_ASSIGN(const auto cluster, Cluster::Start(job, cluster_options));
  Report report(command);
  Run run{.cluster = *cluster,
          .report = report,
          .seconds = std::vector<StageSeconds>(options.threads),
          .text = "",
          .load_s = 0,
          .run_s = 0,
          .load_traffic = Traffic(job.nodes())};
  if (!options.trace.empty()) StartTrace();
  SLIM_TRY(application(run));
  SLIM_TRY(FinishReport(run, options.trace));
  SLIM_TRY(cluster->Stop());
  if (job.self() != 0) return run.exit_code;
  const std::string text = options.json ? ToJson(report) + "\n" : run.text;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return EnvironmentError("cannot write the result to standard output");
  }
  return run.exit_code;
}

}  // namespace

void SetOptions(Report& report) {
  for (const auto& [name, value] : GivenOptions()) report.Set("/options/" + name, value);
}

int Complain(const Error& error) {
  // All processes of a job see wrong usage alike.
  if (StartedRank() == 0) {
    std::fputs(fmt::format("slimgraph: {}\n", error.message).c_str(), stderr);
  }
  return error.exit_code();
}

std::function<void(const MemoryPlan&)> Announce(Run& run) {
  return [&run](const MemoryPlan& plan) {
    run.report.Set("/memory/announced_bytes", plan.node_bytes);
    if (run.cluster.self() != 0) return;
    std::fputs(fmt::format("slimgraph: {} takes {} on the largest of {} node{}, {} in all\n",
                           plan.what, FormatBytes(plan.largest()), plan.node_bytes.size(),
                           plan.node_bytes.size() == 1 ? "" : "s", FormatBytes(plan.total()))
                   .c_str(),
               stderr);
  };
}

int RunJob(const std::string& command, const JobOptions& options,
           const std::vector<std::string>& arguments, const Application& application) {
  const auto nodes = NodesOf(options);
  if (!nodes) return Complain(nodes.error());
  if (StartedBy() == Starter::kNobody && (*nodes > 1 || options.limits.any())) {
    const auto code = StartNodes(*nodes, options, arguments);
    return code ? *code : Complain(code.error());
  }
  if (const Status entered = EnterNodeGroups(StartedRank()); !entered) {
    return Complain(entered.error());
  }
  if (options.survives_deaths) LeaveMpiexec();
  const auto job =
      Job::JoinFromEnvironment(options.transport == "mpi" ? PmiUse::kMpi : PmiUse::kFormJob);
  if (!job) return Complain(job.error());
  const Result<int> done = BeNode(**job, command, options, application);
  if (!done) (*job)->Fail(done.error());
  // After a failure, its own or another's, the control thread ends this process.
  while (!done || !(*job)->Leave(*done)) ::pause();
  return *done;
}

}  // namespace slimgraph
