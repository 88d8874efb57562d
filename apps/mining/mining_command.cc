#include "apps/mining/mining_command.h"

#include <algorithm>
#include <optional>

#include "apps/job/job_command.h"
#include "apps/job/job_report.h"
#include "apps/print.h"
#include "slimgraph/base/units.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/pool/attach.h"
#include "slimgraph/remote/standing_graph.h"

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
      "took {} on {} over {}: {} compute, {} only hold memory; loading took {}\n",
      file.path(), FormatCount(file.vertices()), FormatCount(file.edges()),
      FormatSeconds(run.run_s), FormatCounted(topology.nodes(), "node"),
      run.cluster.options().transport, topology.compute(), topology.nodes() - topology.compute(),
      FormatSeconds(run.load_s));
}

// The bytes of the cache. An automatic one also has room for windows of full length, of which
// cliques take a sixteenth of the cache.
Result<std::uint64_t> CacheBytes(Cluster& cluster, EdgeBudget budget, const GraphSource& file,
                                 bool in_pool) {
  constexpr std::uint64_t kWindowsBytes = 64 << 20;
  SLIM_TRY(DecideEdgeBudget(cluster, budget));
  const std::uint64_t nodes = cluster.topology().nodes();
  // Vertices are dealt out to nodes, so that all have lists of about the same length. In a job on a
  // pool, a compute node has none of its own.
  const std::uint64_t of_lists = file.arcs() * sizeof(VertexId);
  const std::uint64_t of_others = in_pool ? of_lists : of_lists / nodes * (nodes - 1);
  const std::uint64_t all = of_others + (budget.automatic ? kWindowsBytes : 0);
  return budget.Of(all);
}

// The compute nodes have left a count, for others to continue.
Status LeaveTo(JobRun& run, dkudu::ListExchange& lists) {
  SLIM_TRY(lists.Stop());
  SLIM_ASSIGN(run.moves_to, run.cluster.all().AllMax(run.phases->handover.next_compute()));
  return {};
}

}  // namespace

void DeclareMiningOptions(Options& options, MiningCommandOptions& to) {
  to.graph.must_be_undirected = !to.directed;
  DeclareGraph(options, to.graph);
  DeclareListAccess(options, to.edges, to.job);
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

// A directed graph is loaded only if all parts take one.
Result<dkudu::ListPart> ListsForAll(std::span<MiningPart* const> parts) {
  std::optional<dkudu::ListPart> all;
  for (MiningPart* const part : parts) {
    SLIM_ASSIGN(const dkudu::ListPart one, part->Lists());
    all = all.value_or(one) == one ? one : dkudu::ListPart::kAll;
  }
  return all.value_or(dkudu::ListPart::kAll);
}

PoolGraph WithMiningView(PoolGraph graph, dkudu::ListPart lists) {
  graph.view_of = [lists](const StandingGraph& standing) -> Result<std::string> {
    const auto part = dkudu::PartFor(standing, lists);
    SLIM_TRY(dkudu::CheckForMining(standing, part));
    return std::string(dkudu::ViewName(part));
  };
  return graph;
}

Status RunMiningSteps(JobRun& run, const MiningCommandOptions& options, dkudu::ListPart lists,
                      std::span<const MiningStep> steps, std::span<JobRun* const> runs) {
  Cluster& cluster = run.cluster;
  const std::uint64_t start_ns = NowNs();
  std::optional<SlimFile> slim;
  if (run.standing == nullptr) {
    SLIM_ASSIGN(slim, SlimFile::Open(options.graph.path, options.graph.how.in));
  }
  const GraphSource& file = slim ? static_cast<const GraphSource&>(*slim) : *run.standing;
  dkudu::MiningOptions mining = options.mining;
  SLIM_ASSIGN(mining.cache_bytes, CacheBytes(cluster, options.edges, file, !slim));
  run.report.Set("/memory/edge_cache_bytes", mining.cache_bytes);
  std::unique_ptr<dkudu::Continuation> continuation;
  if (run.phases != nullptr) {
    SLIM_ASSIGN(continuation, dkudu::Continuation::Resume(cluster, run.phases->handover));
  }
  std::uint64_t entry_bytes = 0;
  for (const MiningStep& step : steps) entry_bytes = std::max(entry_bytes, step.entry_bytes);
  const std::uint64_t original_id_bytes =
      slim ? slim->original_id_bytes() : run.standing->original_id_bytes();
  const auto working = [&](const dkudu::MiningGraph& graph) {
    const auto bytes = [&](const dkudu::MiningGraph& of, const dkudu::MiningOptions& with) {
      std::uint64_t most = 0;
      for (const MiningStep& step : steps) {
        const std::uint64_t id_bytes = step.prints_ids ? original_id_bytes : 0;
        most = std::max(most, step.engine_bytes(of, with) + id_bytes);
      }
      return most;
    };
    return dkudu::WorkingMemoryOf(graph, mining, cluster, bytes, entry_bytes);
  };
  std::unique_ptr<dkudu::MiningGraph> graph;
  if (slim) {
    SLIM_ASSIGN(graph,
                dkudu::MiningGraph::Load(cluster, file, lists, working, AnnounceMemory(run)));
  } else {
    std::optional<dkudu::StandingLists> own;
    if (run.part != nullptr) {
      SLIM_ASSIGN(own, dkudu::StandingLists::Open(run.part->facts, run.part->memories));
    }
    SLIM_ASSIGN(graph, dkudu::MiningGraph::Attach(cluster, file, lists, own ? &*own : nullptr,
                                                  working, AnnounceMemory(run)));
  }
  run.load_s += SecondsSince(start_ns);
  run.load_traffic = cluster.fabric().traffic();
  cluster.fabric().ClearTraffic();

  SLIM_ASSIGN(const auto exchange, dkudu::ListExchange::Start(cluster, *graph, mining.fetch));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    JobRun& one = *runs[i];
    dkudu::MiningJob job{.cluster = cluster,
                         .graph = *graph,
                         .lists = *exchange,
                         .options = mining,
                         .seconds = one.seconds,
                         .continuation = continuation.get()};
    one.began_ns = NowNs();
    if (one.phases != nullptr) one.phases->began_ns = one.began_ns;
    const Status worked = steps[i].work(one, file, job);
    one.ended_ns = NowNs();
    if (continuation && continuation->has_left()) return LeaveTo(one, *exchange);
    SLIM_TRY(worked);
    one.run_s = static_cast<double>(one.ended_ns - one.began_ns) * 1e-9;
    if (one.phases != nullptr) one.run_s += one.phases->SecondsUntil(one.began_ns);
    if (steps[i].finish && cluster.self() == 0) SLIM_TRY(steps[i].finish(one, file, job));
    one.load_s = run.load_s;
    if (i + 1 == steps.size()) SLIM_TRY(exchange->Stop());
    SLIM_ASSIGN(const dkudu::EngineTimes times, dkudu::TimesOf(job));
    ReportMining(one, file, times);
    if (&one == &run) continue;
    one.run_traffic = cluster.fabric().traffic();
    cluster.fabric().ClearTraffic();
  }
  return {};
}

void SpellOut(const SpelledOption& option, std::vector<std::string>& arguments) {
  const std::string name = "--" + option.name;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == name && i + 1 < arguments.size()) {
      arguments[i + 1] = option.instead;
    } else if (arguments[i].starts_with(name + "=")) {
      arguments[i] = name + "=" + option.instead;
    }
  }
}

int RunMiningCommand(const char* name, MiningCommandOptions& options, MiningPart& part,
                     std::vector<std::string> arguments) {
  if (const Status graph = ResolveGraph(options.graph); !graph) return PrintError(graph.error());
  const auto lists = part.Lists();
  if (!lists) return PrintError(lists.error());
  if (options.graph.standing) {
    options.job.standing = WithMiningView(*options.graph.standing, *lists);
    if (const auto option = part.Spelled()) SpellOut(*option, arguments);
  }
  options.job.stays_with = part.stays_with();
  options.job.may_move = part.may_move() && options.job.stays_with.empty();
  return RunJob(name, options.job, arguments, [&](JobRun& run) -> Status {
    SLIM_ASSIGN(const MiningStep step, part.Step(run));
    JobRun* const runs[] = {&run};
    return RunMiningSteps(run, options, *lists, std::span(&step, 1), runs);
  });
}

}  // namespace slimgraph
