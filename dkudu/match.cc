#include "dkudu/match.h"

#include <functional>

#include "dkudu/internal/task_share.h"

namespace slimgraph::dkudu {
namespace {

const Stage kMatch("match");

Result<std::uint64_t> RunPlan(MiningJob& job, const Plan& plan, const SinkOfThread& sinks) {
  const MiningGraph& graph = job.graph;
  SLIM_TRY(RequireCompleteLists(graph, "embeddings"));
  Continuation* const continuation = sinks ? nullptr : job.continuation;
  auto count = CompletedCount<WideCount>(continuation);
  SLIM_ASSIGN(const auto chunk_bytes, CheckedChunkBytes(job, LeastExtenderBytes(graph, plan)));
  SLIM_ASSIGN(const auto cache, MakeListCache(job));
  while (!count) {
    SLIM_ASSIGN(const auto tasks, TaskShare::Make(job, plan.listed() > 1, continuation));
    SLIM_ASSIGN(const auto offers, MakeOffers(job, Extender::kMostOfferBytes));
    std::vector<WideCount> counts(job.cluster.threads());
    const auto search = [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
      Extender extender(graph, plan, job.lists.fetch(thread), cache.get(), job.options.reuse,
                        chunk_bytes, sinks ? sinks(thread) : nullptr);
      SLIM_TRY(extender.Run([&] { return tasks->ClaimTask(endpoint); }, *offers, endpoint));
      counts[thread] = extender.count();
      return {};
    };
    SLIM_TRY(RunEngines(job, kMatch, search));
    job.stolen_tasks += tasks->stolen() + offers->stolen();
    WideCount mine = 0;
    for (const WideCount one : counts) mine += one;
    SLIM_ASSIGN(count, EndCount(job.cluster, continuation, mine, std::plus<>(),
                                [&] { return tasks->Rest(); }));
  }
  return Narrow(*count, "embeddings");
}

}  // namespace

GraphFigures FiguresOf(const MiningGraph& graph) {
  const auto arcs = static_cast<double>(graph.sums().arcs);
  const double squares = 2 * static_cast<double>(graph.sums().pairs) + arcs;
  return {.vertices = static_cast<double>(graph.vertices()),
          .mean_degree = arcs / graph.vertices(),
          .end_degree = arcs > 0 ? squares / arcs : 0};
}

std::uint64_t MatchBytes(const MiningGraph& graph, const MiningOptions& options, const Plan& plan) {
  const std::uint64_t chunk_bytes = ChunkBytesOf(options, LeastExtenderBytes(graph, plan));
  const std::uint64_t of_thread = ExtenderBytes(chunk_bytes, graph, plan) + graph.vertices();
  return graph.threads() * of_thread + ListCache::Bytes(graph, options.cache_bytes) +
         TaskShare::Bytes(graph) + OfferBytes(graph, options, Extender::kMostOfferBytes);
}

Result<std::uint64_t> CountMatches(MiningJob& job, const Plan& plan) {
  return RunPlan(job, plan, nullptr);
}

Result<std::uint64_t> ListMatches(MiningJob& job, const Plan& plan, const SinkOfThread& sinks) {
  return RunPlan(job, plan, sinks);
}

}  // namespace slimgraph::dkudu
