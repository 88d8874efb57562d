// `slimgraph job list|cancel|resize`.
#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "apps/pool/pool_output.h"
#include "apps/pool/view_command.h"
#include "apps/print.h"
#include "slimgraph/base/units.h"
#include "slimgraph/pool/pool.h"

namespace slimgraph {
namespace {

Status CheckIsJob(const std::string& pool, const std::string& job) {
  if (ParseNumber<std::uint32_t>(job.substr(0, job.find('@')))) return {};
  return UsageError("JOB '{}' is no number of a job: 'job list {}' shows them", job, pool);
}

}  // namespace

Command JobListCommand() {
  return ViewCommand("job list", "show the jobs that use a pool", PrintJobs);
}

Command JobCancelCommand() {
  struct State {
    std::string name;
    std::string job;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("NAME", "the pool", state->name);
    options.Positional("JOB", "the number that 'job list' shows", state->job);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const Status is_job = CheckIsJob(state->name, state->job);
    if (!is_job) return PrintError(is_job.error());
    const Status done = CancelJob(state->name, state->job);
    return done ? 0 : PrintError(done.error());
  };
  return {"job cancel", "end a job that uses a pool: it loses its memory nodes", declare, run};
}

Command JobResizeCommand() {
  struct State {
    std::string name;
    std::string job;
    NodeId compute = 0;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("NAME", "the pool", state->name);
    options.Positional("JOB", "the number that 'job list' shows", state->job);
    options
        .Number("--compute", "C", "the compute nodes that the job shall have", state->compute, 1,
                kMaxNodes)
        .Required();
  };
  const auto run = [state](const std::vector<std::string>&) {
    const Status is_job = CheckIsJob(state->name, state->job);
    if (!is_job) return PrintError(is_job.error());
    const auto before = ResizeJob(state->name, state->job, state->compute);
    if (!before) return PrintError(before.error());
    return Print(fmt::format("job {}: {} instead of {}\n", state->job,
                             FormatCounted(state->compute, "compute node"), *before));
  };
  return {"job resize", "change the compute nodes of a job between two of its steps", declare, run};
}

}  // namespace slimgraph
