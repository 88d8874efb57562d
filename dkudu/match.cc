#include "dkudu/match.h"

#include <algorithm>
#include <atomic>
#include <optional>

namespace slimgraph {
namespace {

const Stage kMatch("match");

// The roots of one task: few, so that threads end together.
constexpr VertexId kTaskRoots = 64;
// A root with more neighbours is split at its first level, into pieces of half as many.
constexpr std::uint64_t kHugeDegree = 4096;

// All roots of this node, those of high degree first: they take the longest.
std::vector<RootTask> TasksOf(const MiningGraph& graph, bool may_split) {
  std::vector<RootTask> tasks;
  for (const NodeId home : graph.root_homes()) {
    VertexId end = graph.displacements().count(home);
    while (end > 0) {
      const VertexId last = home + (end - 1) * graph.nodes();
      if (may_split && graph.degree(last) > kHugeDegree) {
        const auto slices = static_cast<std::uint32_t>(graph.degree(last) / (kHugeDegree / 2));
        for (std::uint32_t i = 0; i < slices; ++i) tasks.push_back({home, end - 1, 1, i, slices});
        --end;
        continue;
      }
      const VertexId count = std::min(end, kTaskRoots);
      end -= count;
      tasks.push_back({home, end, count});
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const RootTask& a, const RootTask& b) {
    return a.first + a.count > b.first + b.count;
  });
  return tasks;
}

Result<std::uint64_t> RunPlan(MiningJob& job, const Plan& plan, const SinkOfThread& sinks) {
  const MiningGraph& graph = job.graph;
  std::vector<RootTask> tasks;
  std::optional<ListCache> cache;
  if (job.cluster.computes()) {
    tasks = TasksOf(graph, plan.listed() > 1);
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
