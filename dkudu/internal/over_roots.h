// Runs a kernel over all roots: every engine has one kernel and claims task after task for it.
#pragma once

#include "dkudu/internal/kernel/neighbour_lists.h"
#include "dkudu/internal/task_share.h"

namespace slimgraph::dkudu {

// The most memory that RunOverRoots takes on a compute node, including the kernel's bytes per
// vertex.
template <typename Kernel>
std::uint64_t OverRootsBytes(const MiningGraph& graph, const MiningOptions& options) {
  const std::uint64_t chunk_bytes = ChunkBytesOf(options, LeastKernelBytes(graph));
  const std::uint64_t of_thread =
      KernelBytes(graph, chunk_bytes) + graph.vertices() * Kernel::kVertexBytes;
  return graph.threads() * of_thread + ListCache::Bytes(graph, options.cache_bytes) +
         TaskShare::Bytes(graph);
}

// Each engine calls done(thread, kernel) when there are no more of `tasks`. `more` are further
// arguments of the kernel's constructor.
template <typename Kernel, typename Done, typename... More>
Status RunOverTasks(MiningJob& job, TaskShare& tasks, const Stage& stage, const Done& done,
                    const More&... more) {
  const MiningGraph& graph = job.graph;
  SLIM_ASSIGN(const auto chunk_bytes, CheckedChunkBytes(job, LeastKernelBytes(graph)));
  SLIM_ASSIGN(const auto cache, MakeListCache(job));
  const auto run = [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
    Kernel kernel(graph, job.lists.fetch(thread), cache.get(), job.options.reuse, chunk_bytes,
                  more...);
    while (true) {
      SLIM_ASSIGN(const auto task, tasks.ClaimTask(endpoint));
      if (!task) break;
      SLIM_TRY(kernel.Run(*task));
    }
    done(thread, kernel);
    return {};
  };
  SLIM_TRY(RunEngines(job, stage, run));
  job.stolen_tasks += tasks.stolen();
  return {};
}

// The same for all roots.
template <typename Kernel, typename Done, typename... More>
Status RunOverRoots(MiningJob& job, const Stage& stage, const Done& done, const More&... more) {
  SLIM_ASSIGN(const auto tasks, TaskShare::Make(job, false));
  return RunOverTasks<Kernel>(job, *tasks, stage, done, more...);
}

// Counts at all roots; the count may be stopped and continued. Each kernel adds its result by
// add_to(sum, kernel).
template <typename Kernel, typename Sum, typename AddTo, typename Add>
Result<Sum> CountOverRoots(MiningJob& job, const Stage& stage, const AddTo& add_to,
                           const Add& add) {
  auto sum = CompletedCount<Sum>(job.continuation);
  while (!sum) {
    SLIM_ASSIGN(const auto tasks, TaskShare::Make(job, false, job.continuation));
    std::vector<Sum> sums(job.cluster.threads());
    const auto done = [&](std::uint32_t thread, const Kernel& kernel) {
      add_to(sums[thread], kernel);
    };
    SLIM_TRY(RunOverTasks<Kernel>(job, *tasks, stage, done));
    Sum mine{};
    for (const Sum& one : sums) mine = add(mine, one);
    SLIM_ASSIGN(sum,
                EndCount(job.cluster, job.continuation, mine, add, [&] { return tasks->Rest(); }));
  }
  return *sum;
}

}  // namespace slimgraph::dkudu
