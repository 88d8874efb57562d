#include "dkudu/match.h"

#include <atomic>
#include <optional>

namespace slimgraph {
namespace {

const Stage kMatch("match");

Result<std::uint64_t> RunPlan(MiningJob& job, const Plan& plan, const SinkOfThread& sinks) {
  const MiningGraph& graph = job.graph;
  std::vector<RootTask> tasks;
  std::optional<ListCache> cache;
  if (job.cluster.computes()) {
    tasks = RootTasksOf(graph, plan.listed() > 1);
    if (job.options.reuse == Reuse::kGlobal) cache.emplace(graph, job.options.cache_bytes);
  }
  std::atomic<std::size_t> next{0};
  std::vector<WideCount> counts(job.cluster.threads());
  const auto search = [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
    Extender extender(graph, plan, endpoint, cache ? &*cache : nullptr, job.options.reuse,
                      job.options.chunk_bytes, sinks ? sinks(thread) : nullptr);
    for (std::size_t i = next++; i < tasks.size() && !extender.stopped(); i = next++) {
      SLIM_TRY(extender.Run(tasks[i]));
    }
    counts[thread] = extender.count();
    return {};
  };
  SLIM_TRY(RunEngines(job, kMatch, search));
  WideCount mine = 0;
  for (const WideCount count : counts) mine += count;
  SLIM_ASSIGN(const WideCount all, SumOverNodes(job.cluster.all(), mine));
  return Narrow(all, "embeddings");
}

}  // namespace

GraphFigures FiguresOf(const MiningGraph& graph) {
  const auto arcs = static_cast<double>(graph.sums().arcs);
  const double squares = 2 * static_cast<double>(graph.sums().pairs) + arcs;
  return {.vertices = static_cast<double>(graph.vertices()),
          .mean_degree = arcs / graph.vertices(),
          .end_degree = arcs > 0 ? squares / arcs : 0};
}

Result<std::uint64_t> CountMatches(MiningJob& job, const Plan& plan) {
  return RunPlan(job, plan, nullptr);
}

Result<std::uint64_t> ListMatches(MiningJob& job, const Plan& plan, const SinkOfThread& sinks) {
  return RunPlan(job, plan, sinks);
}

}  // namespace slimgraph
