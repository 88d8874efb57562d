#include "dkudu/sum_edges.h"

#include <optional>

#include "dkudu/task_share.h"

namespace slimgraph {
namespace {

const Stage kEdges("edge sums");

}  // namespace

Result<EdgeSums> SumOverEdges(MiningJob& job, std::uint64_t* at_vertices) {
  const MiningGraph& graph = job.graph;
  SLIM_ASSIGN(const auto chunk_bytes, ChunkBytes(job, LeastKernelBytes(graph)));
  std::optional<ListCache> cache;
  if (job.cluster.computes() && job.options.reuse == Reuse::kGlobal) {
    cache.emplace(graph, job.options.cache_bytes);
  }
  SLIM_ASSIGN(const auto tasks, TaskShare::Make(job, false));
  std::vector<EdgeSums> sums(job.cluster.threads());
  const auto scan = [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
    EdgeKernel kernel(graph, job.lists.fetch(thread), cache ? &*cache : nullptr, job.options.reuse,
                      chunk_bytes, at_vertices);
    while (true) {
      SLIM_ASSIGN(const auto task, tasks->Next(endpoint));
      if (!task) break;
      SLIM_TRY(kernel.Run(*task));
    }
    sums[thread] = kernel.sums();
    return {};
  };
  SLIM_TRY(RunEngines(job, kEdges, scan));
  job.stolen_tasks += tasks->stolen();
  EdgeSums mine;
  for (const EdgeSums& one : sums) mine += one;
  const auto add = [](EdgeSums a, const EdgeSums& b) { return a += b; };
  SLIM_TRY(job.cluster.all().AllReduce(std::span(&mine, 1), add));
  return mine;
}

}  // namespace slimgraph
