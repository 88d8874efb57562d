#include "dkudu/houses.h"

#include <optional>

#include "dkudu/kernel/house_kernel.h"
#include "dkudu/task_share.h"

namespace slimgraph {
namespace {

const Stage kHouses("houses");

}  // namespace

Result<std::uint64_t> CountHouses(MiningJob& job) {
  const MiningGraph& graph = job.graph;
  SLIM_ASSIGN(const auto chunk_bytes, ChunkBytes(job, LeastKernelBytes(graph)));
  std::optional<ListCache> cache;
  if (job.cluster.computes() && job.options.reuse == Reuse::kGlobal) {
    cache.emplace(graph, job.options.cache_bytes);
  }
  SLIM_ASSIGN(const auto tasks, TaskShare::Make(job, false));
  std::vector<WideCount> counts(job.cluster.threads());
  const auto count = [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
    HouseKernel kernel(graph, job.lists.fetch(thread), cache ? &*cache : nullptr, job.options.reuse,
                       chunk_bytes);
    while (true) {
      SLIM_ASSIGN(const auto task, tasks->Next(endpoint));
      if (!task) break;
      SLIM_TRY(kernel.Run(*task));
    }
    counts[thread] = kernel.twice_houses();
    return {};
  };
  SLIM_TRY(RunEngines(job, kHouses, count));
  job.stolen_tasks += tasks->stolen();
  WideCount twice = 0;
  for (const WideCount one : counts) twice += one;
  SLIM_ASSIGN(const WideCount all, SumOverNodes(job.cluster.all(), twice));
  return Narrow(all / 2, "houses");
}

}  // namespace slimgraph
