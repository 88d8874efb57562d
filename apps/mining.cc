#include "apps/mining.h"

#include "apps/job_command.h"
#include "apps/job_report.h"
#include "slimgraph/base/units.h"
#include "slimgraph/graph/slim_file.h"

namespace slimgraph {
namespace {

void DeclareBytes(Options& options, const char* name, const char* help, std::uint64_t& bytes) {
  options.Value(name, "BYTES", help, [&bytes](const std::string& text) -> Status {
    SLIM_ASSIGN(bytes, ParseBytes(text));
    return {};
  });
}

void Describe(Run& run, const GraphSource& file, const EngineTimes& times) {
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

}  // namespace

void DeclareMiningOptions(Options& options, MiningCommandOptions& to) {
  options.Positional("GRAPH", "the .slim file, undirected", to.graph);
  DeclareBytes(options, "--edge-cache",
               "memory of each compute node for other nodes' lists (default 64M)",
               to.mining.cache_bytes);
  DeclareBytes(options, "--chunk-memory",
               "memory of each thread for embeddings and their lists (default 64M; 0: the least "
               "that will do)",
               to.mining.chunk_bytes);
  options.Choice("--reuse", "what keeps a list from crossing again (default global)",
                 {"none", "chunk", "global"}, to.mining.reuse);
  options.Choice("--steal", "whether nodes that are done take work from others (default on)",
                 {"on", "off"}, to.mining.steal);
  options.Choice("--fetch", "how compute nodes get each other's lists (default request)",
                 {"request", "read"}, to.mining.fetch);
  to.job.serving_threads = 1;
  DeclareJobOptions(options, to.job);
}

Status Mine(Run& run, const MiningCommandOptions& options, ListPart part, const MiningWork& work) {
  Cluster& cluster = run.cluster;
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const SlimFile file, SlimFile::Open(options.graph));
  const WorkingMemory working = WorkingMemoryOf(options.mining, part, cluster, file.vertices());
  SLIM_ASSIGN(const auto graph, MiningGraph::Load(cluster, file, part, working, Announce(run)));
  run.load_s = SecondsSince(start_ns);
  run.load_traffic = cluster.fabric().traffic();
  cluster.fabric().ClearTraffic();

  SLIM_ASSIGN(const auto lists, ListExchange::Start(cluster, *graph, options.mining.fetch));
  MiningJob job{cluster, *graph, *lists, options.mining, run.seconds};
  const std::uint64_t run_ns = NowNs();
  SLIM_TRY(work(run, file, job));
  run.run_s = SecondsSince(run_ns);
  SLIM_TRY(lists->Stop());
  SLIM_ASSIGN(const EngineTimes times, TimesOf(job));
  Describe(run, file, times);
  return {};
}

}  // namespace slimgraph
