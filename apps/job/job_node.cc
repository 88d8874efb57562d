#include "apps/job/job_node.h"

#include <unistd.h>

#include <cstdio>

#include "apps/exhaustion.h"
#include "apps/job/job_report.h"
#include "apps/print.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/stats/trace.h"

namespace slimgraph {
namespace {

HandoverKeeper* KeeperOf(const Phases* phases) {
  return phases == nullptr ? nullptr : phases->keeper;
}

// Starts `cluster`, runs the application on this node and reports on node 0. Returns the exit code.
Result<int> RunNode(Job& job, const JobOptions& options, Report& report, const OfPool& of_pool,
                    Phases* phases, const Application& application,
                    std::unique_ptr<Cluster>& cluster) {
  ClusterOptions cluster_options{options.compute.value_or(job.nodes()), options.threads,
                                 options.transport, options.network, options.qps_per_peer};
  cluster_options.serving_threads = options.serving_threads;
  cluster_options.in_place = InPlaceBy(options.access.value_or(Access::kInPlace), options.host_of);
  if (cluster_options.transport.empty()) {
    cluster_options.transport = job.maps_memory() ? "shm" : "tcp";
  }
  SLIM_ASSIGN(cluster, Cluster::Start(job, cluster_options));
  JobRun run{.cluster = *cluster,
             .report = report,
             .standing = of_pool.graph.get(),
             .part = of_pool.part ? &*of_pool.part : nullptr,
             .seconds = std::vector<StageSeconds>(options.threads),
             .text = "",
             .load_s = 0,
             .run_s = 0,
             .load_traffic = Traffic(job.nodes()),
             .phases = phases};
  if (!options.trace.empty()) StartTrace();
  SLIM_TRY(application(run));
  if (run.moves_to != 0) {
    SLIM_TRY(FinishPhase(run));
    SLIM_TRY(cluster->Stop());
    return 0;
  }
  SLIM_TRY(FinishReport(run, options.trace));
  SLIM_TRY(cluster->Stop());
  if (job.self() != 0) return run.exit_code;
  HandoverKeeper* const keeper = KeeperOf(phases);
  if (keeper != nullptr) keeper->NoteResultBegins();
  if (run.text_to_stderr) {
    std::fputs(run.text.c_str(), stderr);
  } else {
    SLIM_TRY(WriteResult(options.json ? ToJson(report) + "\n" : run.text));
  }
  if (keeper != nullptr) keeper->NoteResult(run.exit_code);
  return run.exit_code;
}

}  // namespace

int RunInJob(Job& job, const JobOptions& options, Report& report, const OfPool& of_pool,
             Phases* phases, const Application& application) {
  const NodeScope node(job);
  // The cluster lives until this process has left the job. As long as other nodes can use this
  // node's memory, none of their operations fails before they know of a failure here.
  std::unique_ptr<Cluster> cluster;
  const Result<int> done = RunNode(job, options, report, of_pool, phases, application, cluster);
  if (!done) job.Fail(done.error());
  // After a failure of this node or another, the control thread ends this process.
  while (!done || !job.Leave(*done)) ::pause();
  return *done;
}

Result<int> TryInJob(Job& job, const JobOptions& options, Report& report, const OfPool& of_pool,
                     Phases* phases, const Application& application) {
  const NodeScope node(job);
  std::unique_ptr<Cluster> cluster;
  Result<int> done = RunNode(job, options, report, of_pool, phases, application, cluster);
  if (done) {
    const Status left = job.Leave(*done);
    // Once the result is written, it does not matter who dies.
    const HandoverKeeper* const keeper = KeeperOf(phases);
    const bool is_written = keeper != nullptr && keeper->exit_code();
    if (!left && !is_written) done = tl::unexpected<Error>(left.error());
  }
  if (done) return done;
  // An operation may fail before there is notice of the death that caused it.
  const std::uint64_t deadline_ns = NowNs() + kDeathNoticeNs;
  while (done.error().kind == ErrorKind::kEnvironment && job.all_alive() && NowNs() < deadline_ns) {
    SleepFor(std::chrono::milliseconds(1));
  }
  // Others may use this node's memory until they know of the failure.
  if (job.all_alive()) job.Fail(done.error());
  while (job.Exchange("")) {
  }
  return done;
}

}  // namespace slimgraph
