#include "apps/mining/mining_command.h"

#include <algorithm>

#include "apps/job/job_command.h"
#include "apps/job/job_report.h"
#include "apps/print.h"
#include "slimgraph/base/units.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph {
namespace {

void ReportMining(JobRun& run, const GraphSource& file, const dkudu::EngineTimes& times) {
  const Topology& topology = run.cluster.topology();
  Report& report = run.report;
  SetGraph(report, file);
  const double engines = topology.compute() * run.cluster.threads();
  report.Set("/engines/cpu_s", times.sum_s);
  report.Set("/engines/longest_over_mean",
             times.sum_s > 0 ? times.longest_s * engines / times.sum_s : 1.0);
  report.Set("/engines/stolen_tasks", times.stolen_tasks);
  run.text += fmt::format(
      "in {}: {} vertices, {} edges\n"
      "took {} on {} node{} over {}: {} compute, {} only hold memory; loading took {}\n",
      file.path(), FormatCount(file.vertices()), FormatCount(file.edges()),
      FormatSeconds(run.run_s), topology.nodes(), topology.nodes() == 1 ? "" : "s",
      run.cluster.options().transport, topology.compute(), topology.nodes() - topology.compute(),
      FormatSeconds(run.load_s));
}

// The bytes of the cache. An automatic one also has room for windows of full length, of which
// cliques take a sixteenth of the cache.
Result<std::uint64_t> CacheBytes(Cluster& cluster, EdgeBudget budget, const GraphSource& file) {
  constexpr std::uint64_t kWindowsBytes = 64 << 20;
  SLIM_TRY(DecideEdgeBudget(cluster, budget));
  const std::uint64_t nodes = cluster.topology().nodes();
  // Vertices are dealt out to nodes, so that all have lists of about the same length.
  const std::uint64_t of_others = file.arcs() * sizeof(VertexId) / nodes * (nodes - 1);
  const std::uint64_t all = of_others + (budget.automatic ? kWindowsBytes : 0);
  return budget.Of(all);
}

}  // namespace

void DeclareMiningOptions(Options& options, MiningCommandOptions& to) {
  to.graph.must_be_undirected = !to.directed;
  DeclareGraph(options, to.graph);
  DeclareEdgeCache(options, to.edges);
  options.Bytes("--chunk-memory",
                "memory of each thread for embeddings and their lists; 0: the least that works",
                to.mining.chunk_bytes);
  options.Choice("--reuse",
                 "reuse fetched lists never, within a chunk, or also from the node's cache",
                 {"none", "chunk", "global"}, to.mining.reuse);
  options.Choice("--steal", "whether idle nodes take work from others", {"on", "off"},
                 to.mining.steal);
  options.Choice("--fetch", "how compute nodes get each other's lists", {"request", "read"},
                 to.mining.fetch);
  to.job.serving_threads = 1;
  DeclareJobOptions(options, to.job);
}

int RunMiningCommand(const char* name, MiningCommandOptions& options,
                     const std::vector<std::string>& arguments, const Application& application) {
  if (const Status graph = ResolveGraph(options.graph); !graph) return PrintError(graph.error());
  return RunJob(name, options.job, arguments, application);
}

namespace {

// A directed graph is loaded only if all steps take one.
dkudu::ListPart PartForAll(std::span<const MiningStep> steps) {
  const auto all_are = [steps](dkudu::ListPart part) {
    return std::all_of(steps.begin(), steps.end(),
                       [part](const MiningStep& step) { return step.part == part; });
  };
  if (all_are(dkudu::ListPart::kArcs)) return dkudu::ListPart::kArcs;
  return all_are(dkudu::ListPart::kUpper) ? dkudu::ListPart::kUpper : dkudu::ListPart::kAll;
}

}  // namespace

Status RunMiningSteps(JobRun& run, const MiningCommandOptions& options,
                      std::span<const MiningStep> steps, std::span<JobRun* const> runs) {
  Cluster& cluster = run.cluster;
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const SlimFile file, SlimFile::Open(options.graph.path, options.graph.how.in));
  dkudu::MiningOptions mining = options.mining;
  SLIM_ASSIGN(mining.cache_bytes, CacheBytes(cluster, options.edges, file));
  run.report.Set("/memory/edge_cache_bytes", mining.cache_bytes);
  const dkudu::ListPart part = PartForAll(steps);
  std::uint64_t entry_bytes = 0;
  for (const MiningStep& step : steps) entry_bytes = std::max(entry_bytes, step.entry_bytes);
  const auto working = [&](const dkudu::MiningGraph& graph) {
    const auto bytes = [&](const dkudu::MiningGraph& of, const dkudu::MiningOptions& with) {
      std::uint64_t most = 0;
      for (const MiningStep& step : steps) {
        const std::uint64_t id_bytes = step.prints_ids ? file.original_id_bytes() : 0;
        most = std::max(most, step.engine_bytes(of, with) + id_bytes);
      }
      return most;
    };
    return dkudu::WorkingMemoryOf(graph, mining, cluster, bytes, entry_bytes);
  };
  SLIM_ASSIGN(const auto graph,
              dkudu::MiningGraph::Load(cluster, file, part, working, AnnounceMemory(run)));
  run.load_s += SecondsSince(start_ns);
  run.load_traffic = cluster.fabric().traffic();
  cluster.fabric().ClearTraffic();

  SLIM_ASSIGN(const auto lists, dkudu::ListExchange::Start(cluster, *graph, mining.fetch));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    JobRun& one = *runs[i];
    dkudu::MiningJob job{cluster, *graph, *lists, mining, one.seconds};
    const std::uint64_t run_ns = NowNs();
    SLIM_TRY(steps[i].work(one, file, job));
    one.run_s = SecondsSince(run_ns);
    if (steps[i].finish && cluster.self() == 0) SLIM_TRY(steps[i].finish(one, file, job));
    one.load_s = run.load_s;
    if (i + 1 == steps.size()) SLIM_TRY(lists->Stop());
    SLIM_ASSIGN(const dkudu::EngineTimes times, dkudu::TimesOf(job));
    ReportMining(one, file, times);
    if (&one == &run) continue;
    one.run_traffic = cluster.fabric().traffic();
    cluster.fabric().ClearTraffic();
  }
  return {};
}

Status RunMiningPart(JobRun& run, const MiningCommandOptions& options, MiningPart& part) {
  SLIM_ASSIGN(const MiningStep step, part.Step(run));
  JobRun* const runs[] = {&run};
  return RunMiningSteps(run, options, std::span(&step, 1), runs);
}

}  // namespace slimgraph
