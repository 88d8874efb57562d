#include "apps/job/job_runner.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "apps/command.h"
#include "apps/exhaustion.h"
#include "apps/job/job_report.h"
#include "apps/print.h"
#include "slimgraph/base/units.h"
#include "slimgraph/launch/last_line.h"
#include "slimgraph/launch/local_job.h"
#include "slimgraph/launch/place.h"
#include "slimgraph/launch/started_by.h"
#include "slimgraph/pool/attach.h"
#include "slimgraph/remote/standing_graph.h"
#include "slimgraph/stats/trace.h"

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

// What a job has of a pool.
struct OfPool {
  std::unique_ptr<StandingGraph> graph;  // null: the job is not attached to a pool
  std::optional<StandingHere> part;      // of a view
};

// Starts `cluster`, runs the application on this node and reports on node 0. Returns the exit code.
Result<int> RunNode(Job& job, const std::string& command, const JobOptions& options,
                    const OfPool& of_pool, const Application& application,
                    std::unique_ptr<Cluster>& cluster) {
  ClusterOptions cluster_options{options.compute.value_or(job.nodes()), options.threads,
                                 options.transport, options.network, options.qps_per_peer};
  cluster_options.serving_threads = options.serving_threads;
  if (cluster_options.transport.empty()) {
    cluster_options.transport = job.one_host() ? "shm" : "tcp";
  }
  SLIM_ASSIGN(cluster, Cluster::Start(job, cluster_options));
  Report report(command);
  JobRun run{.cluster = *cluster,
             .report = report,
             .standing = of_pool.graph.get(),
             .part = of_pool.part ? &*of_pool.part : nullptr,
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
  if (run.text_to_stderr) {
    std::fputs(run.text.c_str(), stderr);
  } else {
    SLIM_TRY(WriteResult(options.json ? ToJson(report) + "\n" : run.text));
  }
  return run.exit_code;
}

// Runs this node of a job that has formed. Returns the exit code.
int RunInJob(Job& job, const std::string& command, const JobOptions& options, const OfPool& of_pool,
             const Application& application) {
  const NodeScope node(job);
  // The cluster lives until this process ends. As long as other nodes can use this node's memory,
  // none of their operations fails before they know of a failure here.
  std::unique_ptr<Cluster> cluster;
  const Result<int> done = RunNode(job, command, options, of_pool, application, cluster);
  if (!done) job.Fail(done.error());
  // After a failure of this node or another, the control thread ends this process.
  while (!done || !job.Leave(*done)) ::pause();
  return *done;
}

// The pool's nodes are the memory nodes, so these options have no meaning.
Status CheckAttachedOptions(const JobOptions& options) {
  if (options.nodes) {
    return UsageError(
        "--nodes is for graphs in files: {} has the nodes of its pool; give --compute",
        options.standing->pool + ":" + options.standing->graph);
  }
  if (options.limits.any()) {
    return UsageError(
        "--cpu-share and --node-memory limit nodes that --nodes starts, not a pool's");
  }
  if (options.transport != "" && options.transport != "shm" && options.transport != "tcp") {
    return UsageError("graphs of a pool are read over --transport shm or tcp, not {}",
                      options.transport);
  }
  if (StartedBy() != Starter::kNobody) {
    return UsageError("a job on a pool starts its compute nodes by itself: run it without {}",
                      StartedBy() == Starter::kPmi ? "mpiexec" : "a launcher");
  }
  return CheckNetwork(options.network);
}

// AttachRequest's function for the one of PoolGraph.
std::function<Result<std::string>(const std::string&)> ViewByFacts(
    std::function<Result<std::string>(const StandingGraph&)> view_of) {
  if (!view_of) return {};
  return [view_of](const std::string& facts) -> Result<std::string> {
    SLIM_ASSIGN(const auto graph, StandingGraph::Open(facts, {}));
    return view_of(*graph);
  };
}

// Becomes a node of a job that is attached to a pool: node 0, which makes the job, or one of those
// that it has had started.
int RunAttachedJob(const std::string& command, JobOptions options,
                   const std::vector<std::string>& arguments, const Application& application) {
  if (const Status checked = CheckAttachedOptions(options); !checked) {
    return PrintError(checked.error());
  }
  const auto place = TakePlace();
  if (!place) return PrintError(place.error());
  auto taken = TakeStandingPart();
  if (!taken) return PrintError(taken.error());
  OfPool of_pool{.graph = nullptr, .part = *std::move(taken)};
  const auto& view_of = options.standing->view_of;
  std::unique_ptr<Attachment> attachment;
  JoinConfig config;
  if (*place) {
    options.compute = (*place)->compute;
    config = (*place)->Config();
  } else {
    options.compute = options.compute.value_or(1);
    auto made = Attachment::Make({.pool = options.standing->pool,
                                  .graph = options.standing->graph,
                                  .view_of = ViewByFacts(view_of),
                                  .compute = *options.compute,
                                  .words = arguments});
    if (!made) return PrintError(made.error());
    attachment = *std::move(made);
    config = attachment->TakeConfig();
  }
  const auto job = Job::Join(std::move(config), OnLoss::kEndJob);
  // Node 0 says why the job has not formed.
  if (!job) return *place ? job.error().exit_code() : PrintError(job.error());
  const auto facts = (*job)->Exchange(attachment ? attachment->facts().facts : "");
  while (!facts) ::pause();  // the control thread ends this process
  // The memories of a view are not those of the graph.
  std::vector<std::unique_ptr<SharedMemory>> memories;
  if (of_pool.part && !view_of) {
    memories = std::move(of_pool.part->memories);
    of_pool.part.reset();
  }
  auto graph = StandingGraph::Open(facts->front(), std::move(memories));
  if (!graph) (*job)->Fail(graph.error());
  while (!graph) ::pause();
  of_pool.graph = *std::move(graph);
  return RunInJob(**job, command, options, of_pool, application);
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
    run.report.Set("/memory/announced_bytes", plan.node_bytes);
    if (run.cluster.self() != 0) return;
    std::fputs(fmt::format("slimgraph: {}\n", Describe(plan)).c_str(), stderr);
  };
}

int RunJob(const std::string& command, const JobOptions& options,
           const std::vector<std::string>& arguments, const Application& application) {
  if (options.standing) return RunAttachedJob(command, options, arguments, application);
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
  return RunInJob(**job, command, options, {}, application);
}

}  // namespace slimgraph
