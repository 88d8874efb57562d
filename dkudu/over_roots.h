// What runs a kernel over all roots: on every engine one, which takes task by task.
#pragma once

#include <optional>

#include "dkudu/kernel/neighbour_lists.h"
#include "dkudu/task_share.h"

namespace slimgraph {

// done(thread, kernel) is called on each engine when there are no more tasks. `more` is what the
// kernel takes besides what all do.
template <typename Kernel, typename Done, typename... More>
Status RunOverRoots(MiningJob& job, const Stage& stage, const Done& done, const More&... more) {
  const MiningGraph& graph = job.graph;
  SLIM_ASSIGN(const auto chunk_bytes, ChunkBytes(job, LeastKernelBytes(graph)));
  std::optional<ListCache> cache;
  if (job.cluster.computes() && job.options.reuse == Reuse::kGlobal) {
    cache.emplace(graph, job.options.cache_bytes);
  }
  SLIM_ASSIGN(const auto tasks, TaskShare::Make(job, false));
  const auto run = [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
    Kernel kernel(graph, job.lists.fetch(thread), cache ? &*cache : nullptr, job.options.reuse,
                  chunk_bytes, more...);
    while (true) {
      SLIM_ASSIGN(const auto task, tasks->Next(endpoint));
      if (!task) break;
      SLIM_TRY(kernel.Run(*task));
    }
    done(thread, kernel);
    return {};
  };
  SLIM_TRY(RunEngines(job, stage, run));
  job.stolen_tasks += tasks->stolen();
  return {};
}

}  // namespace slimgraph
