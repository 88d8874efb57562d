#include "apps/job_runner.h"

#include <unistd.h>

#include <cstdio>

#include "apps/job_report.h"
#include "slimgraph/base/check.h"
#include "slimgraph/launch/local_job.h"
#include "slimgraph/launch/started_by.h"
#include "slimgraph/stats/trace.h"

namespace slimgraph {
namespace {

// The options against each other and against the launcher, before anything is started.
Result<NodeId> NodesOf(const JobOptions& options) {
  SLIM_TRY(CheckLaunch());
  const bool started = StartedBy() != Starter::kNobody;
  const NodeId nodes = options.nodes != 0 ? options.nodes : StartedNodes();
  if (started && nodes != StartedNodes()) {
    return UsageError(
        "the launcher started {} process{}, but --nodes is {}; leave --nodes out, or start as many",
        StartedNodes(), StartedNodes() == 1 ? "" : "es", nodes);
  }
  SLIM_TRY(Topology::Make(nodes, options.compute == 0 ? nodes : options.compute));
  if (options.threads < 1 || options.threads > 256) {
    return UsageError("--threads {} is out of range: 1..256", options.threads);
  }
  return nodes;
}

// An application's work as one node, with the report on node 0.
Status BeNode(Job& job, const std::string& command, const JobOptions& options,
              const Application& application) {
  ClusterOptions cluster_options{options.compute, options.threads, options.transport,
                                 options.network};
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
  if (job.self() != 0) return {};
  const std::string text = options.json ? ToJson(report) + "\n" : run.text;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return EnvironmentError("cannot write the result to standard output");
  }
  return {};
}

}  // namespace

int Complain(const Error& error) {
  std::fputs(fmt::format("slimgraph: {}\n", error.message).c_str(), stderr);
  return error.exit_code();
}

int RunJob(const std::string& command, const JobOptions& options,
           const std::vector<std::string>& arguments, const Application& application) {
  const auto nodes = NodesOf(options);
  if (!nodes) return Complain(nodes.error());
  if (StartedBy() == Starter::kNobody && *nodes > 1) {
    const auto code = RunLocalJob(*nodes, arguments);
    return code ? *code : Complain(code.error());
  }
  const auto job = Job::JoinFromEnvironment();
  if (!job) return Complain(job.error());
  const Status done = BeNode(**job, command, options, application);
  if (!done) {
    (*job)->Fail(done.error());
    while (true) ::pause();  // the control thread ends this process
  }
  const Status left = (*job)->Leave(0);
  return left ? 0 : Complain(left.error());
}

}  // namespace slimgraph
