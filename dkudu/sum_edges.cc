#include "dkudu/sum_edges.h"

#include <atomic>
#include <optional>

namespace slimgraph {
namespace {

const Stage kEdges("edge sums");

}  // namespace

Result<EdgeSums> SumOverEdges(MiningJob& job, std::uint64_t* at_vertices) {
  const MiningGraph& graph = job.graph;
  std::vector<RootTask> tasks;
  std::optional<ListCache> cache;
  if (job.cluster.computes()) {
    tasks = RootTasksOf(graph, false);
    if (job.options.reuse == Reuse::kGlobal) cache.emplace(graph, job.options.cache_bytes);
  }
  std::atomic<std::size_t> next{0};
  std::vector<EdgeSums> sums(job.cluster.threads());
  const auto scan = [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
    EdgeKernel kernel(graph, endpoint, cache ? &*cache : nullptr, job.options.reuse,
                      job.options.chunk_bytes, at_vertices);
    for (std::size_t i = next++; i < tasks.size(); i = next++) SLIM_TRY(kernel.Run(tasks[i]));
    sums[thread] = kernel.sums();
    return {};
  };
  SLIM_TRY(RunEngines(job, kEdges, scan));
  EdgeSums mine;
  for (const EdgeSums& one : sums) mine += one;
  const auto add = [](EdgeSums a, const EdgeSums& b) { return a += b; };
  SLIM_TRY(job.cluster.all().AllReduce(std::span(&mine, 1), add));
  return mine;
}

}  // namespace slimgraph
