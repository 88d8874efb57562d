// Runs engines on a snapshot. Each has a cluster of its own, since the transactions use theirs.
#include "apps/txn/analytics.h"
#include "dgemini/programs.h"
#include "dgemini/shortest_paths.h"
#include "dkudu/cliques.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

const auto kNoAnnouncement = [](const MemoryPlan&) {};

dgemini::WorkloadNeeds NeedsOf(AnalysisKind kind) {
  switch (kind) {
    case AnalysisKind::kPageRank:
      return dgemini::PageRankNeeds(dgemini::Mode::kAuto);
    case AnalysisKind::kBfs:
      return dgemini::BfsNeeds(dgemini::Mode::kAuto);
    case AnalysisKind::kShortestPaths:
      return dgemini::ShortestPaths::Needs(dgemini::Mode::kAuto);
    default:
      return dgemini::ComponentsNeeds();
  }
}

Status RunPageRank(dgemini::Engine& engine, Finding& found) {
  SLIM_ASSIGN(const dgemini::PageRanks ranks, dgemini::PageRank(engine, {}));
  SLIM_ASSIGN(const double sum, engine.Sum([&](VertexId v) { return ranks.rank[v]; }));
  found.values.emplace_back("iterations", ranks.iterations);
  found.values.emplace_back("sum", sum);
  found.words = fmt::format("{} iterations; the ranks sum to {:.15g}", ranks.iterations, sum);
  return {};
}

// The vertex where a search begins. If the snapshot does not have it, says so in `found` and
// returns nullopt.
std::optional<VertexId> SourceOf(const OriginalIds& ids, const Analysis& analysis, Finding& found) {
  const std::uint64_t source = analysis.source.value_or(ids[0]);
  const auto dense = ids.Find(source);
  found.values.emplace_back("source", source);
  if (!dense) {
    found.values.emplace_back("reached", std::uint64_t{0});
    found.words = fmt::format("there was no vertex {}", source);
  }
  return dense;
}

Status RunSssp(dgemini::Engine& engine, const OriginalIds& ids, const Analysis& analysis,
               dgemini::ShortestPaths& paths, Finding& found) {
  const auto source = SourceOf(ids, analysis, found);
  if (!source) return {};
  SLIM_TRY(paths.Compute(engine, *source));
  SLIM_ASSIGN(const auto reach, paths.FindReach(engine));
  found.values.emplace_back("reached", static_cast<std::uint64_t>(reach.vertices));
  found.values.emplace_back("farthest", reach.farthest);
  found.words = fmt::format("from {}: {:.0f} vertices reached, the farthest at {}", ids[*source],
                            reach.vertices, reach.farthest);
  return {};
}

Status RunBfs(dgemini::Engine& engine, const OriginalIds& ids, const Analysis& analysis,
              Finding& found) {
  const auto source = SourceOf(ids, analysis, found);
  if (!source) return {};
  SLIM_ASSIGN(const auto depths, dgemini::Bfs(engine, *source));
  SLIM_ASSIGN(const double reached,
              engine.Sum([&](VertexId v) { return depths[v] == dgemini::kUnreached ? 0.0 : 1.0; }));
  found.values.emplace_back("reached", static_cast<std::uint64_t>(reached));
  found.words = fmt::format("from {}: {:.0f} vertices reached", ids[*source], reached);
  return {};
}

Status RunComponents(dgemini::Engine& engine, bool directed, Finding& found) {
  SLIM_ASSIGN(const auto label, dgemini::Components(engine, directed));
  SLIM_ASSIGN(const double count,
              engine.Sum([&](VertexId v) { return label[v] == v ? 1.0 : 0.0; }));
  found.values.emplace_back("components", static_cast<std::uint64_t>(count));
  found.words = fmt::format("{:.0f} components", count);
  return {};
}

Status RunProgram(Cluster& cluster, const txn::Snapshot& snapshot, const Analysis& analysis,
                  Finding& found) {
  const std::uint64_t start_ns = NowNs();
  dgemini::Exchange exchange(cluster);
  SLIM_ASSIGN(const auto work,
              dgemini::Workload::Load(cluster, snapshot, NeedsOf(analysis.kind), kNoAnnouncement));
  dgemini::ShortestPaths paths;
  if (analysis.kind == AnalysisKind::kShortestPaths) {
    SLIM_TRY(paths.Prepare(snapshot));
    SLIM_TRY(paths.Examine(cluster, *work, {}));
  }
  SLIM_TRY(cluster.all().Barrier());
  found.load_s = SecondsSince(start_ns);
  const std::uint64_t run_ns = NowNs();
  if (cluster.computes()) {
    dgemini::Engine engine(cluster, *work, exchange, dgemini::Mode::kAuto);
    SLIM_ASSIGN(const OriginalIds ids, snapshot.ReadOriginalIds());
    SLIM_TRY(analysis.kind == AnalysisKind::kPageRank ? RunPageRank(engine, found)
             : analysis.kind == AnalysisKind::kBfs    ? RunBfs(engine, ids, analysis, found)
             : analysis.kind == AnalysisKind::kShortestPaths
                 ? RunSssp(engine, ids, analysis, paths, found)
                 : RunComponents(engine, snapshot.directed(), found));
  }
  found.run_s = SecondsSince(run_ns);
  return work->ServeWhile([&] { return cluster.all().Barrier(); });
}

Status RunCliques(Cluster& cluster, const txn::Snapshot& snapshot, const Analysis& analysis,
                  Finding& found) {
  const std::uint64_t start_ns = NowNs();
  const dkudu::MiningOptions options;
  const auto bytes = [&](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& mining) {
    return dkudu::CliqueBytes(graph, mining, analysis.clique_size);
  };
  const auto working = [&](const dkudu::MiningGraph& graph) {
    return dkudu::WorkingMemoryOf(graph, options, cluster, bytes);
  };
  SLIM_ASSIGN(const auto graph, dkudu::MiningGraph::Load(cluster, snapshot, dkudu::ListPart::kUpper,
                                                         working, kNoAnnouncement));
  SLIM_ASSIGN(const auto lists, dkudu::ListExchange::Start(cluster, *graph, options.fetch));
  std::vector<StageSeconds> seconds(cluster.threads());
  dkudu::MiningJob job{cluster, *graph, *lists, options, seconds};
  found.load_s = SecondsSince(start_ns);
  const std::uint64_t run_ns = NowNs();
  SLIM_ASSIGN(const std::uint64_t count, dkudu::CountCliques(job, analysis.clique_size));
  found.run_s = SecondsSince(run_ns);
  found.values.emplace_back("count", count);
  found.words = analysis.clique_size == 3
                    ? fmt::format("{} triangles", count)
                    : fmt::format("{} cliques of {} vertices", count, analysis.clique_size);
  return lists->Stop();
}

}  // namespace

Result<Finding> RunAnalysis(Job& job, const ClusterOptions& options_of_all,
                            const txn::Snapshot& snapshot, const Analysis& analysis) {
  Finding found{.name = analysis.name,
                .time = snapshot.time(),
                .in_run = snapshot.in_run(),
                .vertices = snapshot.vertices(),
                .edges = snapshot.edges(),
                .pause_s = snapshot.pause_s(),
                .gather_s = snapshot.gather_s(),
                .values = {},
                .words = "the graph is empty"};
  if (snapshot.vertices() == 0) return found;
  const bool mines = analysis.kind == AnalysisKind::kCliques;
  ClusterOptions options = options_of_all;
  options.serving_threads = mines ? 1 : 0;
  SLIM_ASSIGN(const auto cluster, Cluster::Start(job, options));
  const Status ran = mines ? RunCliques(*cluster, snapshot, analysis, found)
                           : RunProgram(*cluster, snapshot, analysis, found);
  if (!ran) job.AbortPart(ran.error());  // while the cluster still exists, as GiveUp() requires
  SLIM_TRY(ran);
  found.staleness_s = snapshot.StalenessSeconds();
  SLIM_TRY(cluster->Stop());
  return found;
}

}  // namespace slimgraph
