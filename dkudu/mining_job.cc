#include "dkudu/mining_job.h"

#include <algorithm>
#include <numeric>

#include "slimgraph/base/parallel.h"
#include "slimgraph/stats/trace.h"

namespace slimgraph {

Status RunEngines(MiningJob& job, const Stage& stage,
                  const std::function<Status(std::uint32_t, Endpoint&)>& body) {
  if (!job.cluster.computes()) return {};
  const std::uint32_t threads = job.cluster.threads();
  job.busy_s.resize(threads);
  return RunOnThreads(threads, [&](std::size_t index) {
    const auto thread = static_cast<std::uint32_t>(index);
    SetTraceThread(thread);
    Endpoint& endpoint = job.cluster.fabric().endpoint(thread);
    const std::uint64_t start_ns = NowNs();
    const StageScope scope(endpoint, job.seconds[thread], stage);
    const Status done = body(thread, endpoint);
    job.busy_s[thread] += SecondsSince(start_ns);
    return done;
  });
}

Result<double> Imbalance(MiningJob& job) {
  struct Busy {
    double sum = 0;
    double most = 0;
  } busy;
  for (const double seconds : job.busy_s) {
    busy.sum += seconds;
    busy.most = std::max(busy.most, seconds);
  }
  const auto add = [](const Busy& a, const Busy& b) {
    return Busy{a.sum + b.sum, std::max(a.most, b.most)};
  };
  SLIM_TRY(job.cluster.all().AllReduce(std::span(&busy, 1), add));
  const double engines = job.cluster.topology().compute() * job.cluster.threads();
  return busy.sum > 0 ? busy.most / (busy.sum / engines) : 1;
}

}  // namespace slimgraph
