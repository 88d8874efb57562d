// Runs engines on a snapshot. Each has a cluster of its own, since the transactions use theirs.
#include <algorithm>

#include "apps/txn/analytics.h"
#include "dgemini/programs.h"
#include "dgemini/shortest_paths.h"
#include "dkudu/cliques.h"
#include "dkudu/local.h"
#include "dkudu/truss.h"
#include "slimgraph/base/units.h"
#include "slimgraph/files/both_directions.h"

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
    case AnalysisKind::kLabels:
      return dgemini::LabelsNeeds(dgemini::Mode::kAuto);
    case AnalysisKind::kCores:
      return dgemini::CoresNeeds(dgemini::Mode::kAuto);
    case AnalysisKind::kIndependentSet:
      return dgemini::IndependentSetNeeds();
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
  const auto components = static_cast<std::uint64_t>(count);
  found.values.emplace_back("components", components);
  found.words = FormatCounted(components, "component");
  return {};
}

Status RunLabels(dgemini::Engine& engine, const OriginalIds& ids, const Analysis& analysis,
                 Finding& found) {
  SLIM_ASSIGN(const auto labels, dgemini::PropagateLabels(engine, ids, analysis.iterations));
  SLIM_ASSIGN(const std::uint64_t count, engine.CountDifferent(labels.label));
  found.values.emplace_back("iterations", labels.iterations);
  found.values.emplace_back("communities", count);
  found.words = fmt::format("{} iterations; {} communities", labels.iterations, count);
  return {};
}

Status RunCores(dgemini::Engine& engine, const txn::Snapshot& snapshot, Finding& found) {
  const bool simple =
      !snapshot.directed() && !snapshot.may_have_self_loops() && !snapshot.may_have_duplicates();
  SLIM_ASSIGN(const auto cores, dgemini::CoreNumbers(engine, simple));
  std::uint64_t largest = 0;
  for (VertexId v = 0; v < engine.vertices(); ++v) {
    if (engine.mine(v)) largest = std::max<std::uint64_t>(largest, cores[v]);
  }
  SLIM_TRY(engine.Reduce(std::span(&largest, 1), [](auto a, auto b) { return std::max(a, b); }));
  SLIM_ASSIGN(const double within,
              engine.Sum([&](VertexId v) { return cores[v] == largest ? 1.0 : 0.0; }));
  found.values.emplace_back("largest_core", largest);
  found.values.emplace_back("largest_core_vertices", static_cast<std::uint64_t>(within));
  found.words = fmt::format("the largest core number is {}, of {:.0f} vertices", largest, within);
  return {};
}

Status RunIndependentSet(dgemini::Engine& engine, const OriginalIds& ids, const Analysis& analysis,
                         Finding& found) {
  SLIM_ASSIGN(const auto member, dgemini::IndependentSet(engine, ids, analysis.seed));
  SLIM_ASSIGN(const double size, engine.Sum([&](VertexId v) { return member[v] ? 1.0 : 0.0; }));
  found.values.emplace_back("members", static_cast<std::uint64_t>(size));
  found.words = fmt::format("a maximal independent set of {:.0f} vertices", size);
  return {};
}

Status RunOnEngine(dgemini::Engine& engine, const txn::Snapshot& snapshot, const Analysis& analysis,
                   dgemini::ShortestPaths& paths, Finding& found) {
  SLIM_ASSIGN(const OriginalIds ids, snapshot.ReadOriginalIds());
  switch (analysis.kind) {
    case AnalysisKind::kPageRank:
      return RunPageRank(engine, found);
    case AnalysisKind::kBfs:
      return RunBfs(engine, ids, analysis, found);
    case AnalysisKind::kShortestPaths:
      return RunSssp(engine, ids, analysis, paths, found);
    case AnalysisKind::kLabels:
      return RunLabels(engine, ids, analysis, found);
    case AnalysisKind::kCores:
      return RunCores(engine, snapshot, found);
    case AnalysisKind::kIndependentSet:
      return RunIndependentSet(engine, ids, analysis, found);
    default:
      return RunComponents(engine, snapshot.directed(), found);
  }
}

Status RunProgram(Cluster& cluster, const txn::Snapshot& snapshot, const Analysis& analysis,
                  Finding& found) {
  const std::uint64_t start_ns = NowNs();
  std::optional<BothDirections> both;
  if (snapshot.directed() && analysis.IgnoresDirections()) {
    SLIM_ASSIGN(both, BothDirections::Of(snapshot));
  }
  const GraphSource& source = both ? static_cast<const GraphSource&>(*both) : snapshot;
  dgemini::Exchange exchange(cluster);
  SLIM_ASSIGN(const auto work,
              dgemini::Workload::Load(cluster, source, NeedsOf(analysis.kind), kNoAnnouncement));
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
    SLIM_TRY(RunOnEngine(engine, snapshot, analysis, paths, found));
  }
  found.run_s = SecondsSince(run_ns);
  return work->ServeWhile([&] { return cluster.all().Barrier(); });
}

// On node 0, where the counts are.
Status ReportClustering(const dkudu::LocalCounts& counts, const txn::Snapshot& snapshot,
                        Finding& found) {
  SLIM_ASSIGN(const OriginalIds ids, snapshot.ReadOriginalIds());
  double sum = 0;
  const auto add = [&sum](VertexId, const dkudu::LocalFigures& figures) -> Status {
    sum += figures.clustering();
    return {};
  };
  SLIM_TRY(counts.ForEach(ids, add));
  const double mean = sum / snapshot.vertices();
  found.values.emplace_back("mean_clustering", mean);
  found.words = fmt::format("mean clustering {:.6f}", mean);
  return {};
}

Status RunOnLists(dkudu::MiningJob& job, const txn::Snapshot& snapshot, const Analysis& analysis,
                  Finding& found) {
  if (analysis.kind == AnalysisKind::kClustering) {
    SLIM_ASSIGN(const auto counts, dkudu::CountLocal(job));
    return job.cluster.self() == 0 ? ReportClustering(counts, snapshot, found) : Status();
  }
  if (analysis.kind == AnalysisKind::kTrussness) {
    SLIM_ASSIGN(const auto trussness, dkudu::ComputeTrussness(job));
    const std::uint32_t largest = trussness.largest();
    const std::uint64_t edges = trussness.EdgesOfTruss(largest);
    found.values.emplace_back("largest_truss", std::uint64_t{largest});
    found.values.emplace_back("largest_truss_edges", edges);
    found.words = fmt::format("the largest trussness is {}, of {} edges", largest, edges);
    return {};
  }
  SLIM_ASSIGN(const std::uint64_t count, dkudu::CountCliques(job, analysis.clique_size));
  found.values.emplace_back("count", count);
  found.words = analysis.clique_size == 3
                    ? fmt::format("{} triangles", count)
                    : fmt::format("{} cliques of {} vertices", count, analysis.clique_size);
  return {};
}

Status RunMining(Cluster& cluster, const txn::Snapshot& snapshot, const Analysis& analysis,
                 Finding& found) {
  const std::uint64_t start_ns = NowNs();
  const dkudu::MiningOptions options;
  const bool is_local = analysis.kind == AnalysisKind::kClustering;
  const bool is_truss = analysis.kind == AnalysisKind::kTrussness;
  const auto bytes = [&](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& mining) {
    if (is_local) {
      return dkudu::LocalBytes(graph, mining) + graph.vertices() * sizeof(std::uint64_t);
    }
    if (is_truss) return dkudu::TrussBytes(graph, mining);
    return dkudu::CliqueBytes(graph, mining, analysis.clique_size);
  };
  const auto working = [&](const dkudu::MiningGraph& graph) {
    return dkudu::WorkingMemoryOf(graph, options, cluster, bytes,
                                  is_truss ? dkudu::kTrussBytesPerArc : 0);
  };
  const dkudu::ListPart part = is_local   ? dkudu::ListPart::kArcs
                               : is_truss ? dkudu::ListPart::kAll
                                          : dkudu::ListPart::kUpper;
  SLIM_ASSIGN(const auto graph,
              dkudu::MiningGraph::Load(cluster, snapshot, part, working, kNoAnnouncement));
  SLIM_ASSIGN(const auto lists, dkudu::ListExchange::Start(cluster, *graph, options.fetch));
  std::vector<StageSeconds> seconds(cluster.threads());
  dkudu::MiningJob job{cluster, *graph, *lists, options, seconds};
  found.load_s = SecondsSince(start_ns);
  const std::uint64_t run_ns = NowNs();
  SLIM_TRY(RunOnLists(job, snapshot, analysis, found));
  found.run_s = SecondsSince(run_ns);
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
  ClusterOptions options = options_of_all;
  options.serving_threads = analysis.mines() ? 1 : 0;
  SLIM_ASSIGN(const auto cluster, Cluster::Start(job, options));
  const Status ran = analysis.mines() ? RunMining(*cluster, snapshot, analysis, found)
                                      : RunProgram(*cluster, snapshot, analysis, found);
  if (!ran) job.AbortPart(ran.error());  // while the cluster still exists, as GiveUp() requires
  SLIM_TRY(ran);
  found.staleness_s = snapshot.StalenessSeconds();
  SLIM_TRY(cluster->Stop());
  return found;
}

}  // namespace slimgraph
