#include "apps/vertex/vertex_job.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "apps/job/job_command.h"
#include "apps/job/job_report.h"
#include "apps/output/value_file.h"
#include "slimgraph/base/units.h"
#include "slimgraph/base/usage.h"
#include "slimgraph/cluster/gather.h"
#include "slimgraph/files/both_directions.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/files/unit_weights.h"
#include "slimgraph/remote/standing_graph.h"

namespace slimgraph {
namespace {

Status WriteOutput(ValueFile& file, const OriginalIds& ids, const VertexApplication& application) {
  std::string value;
  for (VertexId i = 0; i < ids.count(); ++i) {
    const VertexId v = ids.InOrder(i);
    value.clear();
    application.Print(v, value);
    SLIM_TRY(file.Add(ids[v], value));
  }
  return file.Finish();
}

// Runs the application options.repeat times on all nodes. Sets the traffic of the last run and the
// median of the run times, and run.moves_to if other compute nodes shall continue.
Status Measure(JobRun& run, const VertexOptions& options, dgemini::Workload& work,
               dgemini::Engine* engine, VertexApplication& application) {
  Cluster& cluster = run.cluster;
  Fabric& fabric = cluster.fabric();
  // Compute nodes may request lists from this node as soon as the first of them starts.
  const bool serves = engine == nullptr && options.cache.side != MemorySide::kStrict;
  const double cpu_before_s = ProcessorSeconds();
  std::vector<double> seconds;
  for (std::uint64_t round = 0; round < std::max<std::uint64_t>(1, options.repeat); ++round) {
    if (serves) fabric.ClearTraffic();
    SLIM_TRY(cluster.all().Barrier());
    if (!serves) fabric.ClearTraffic();
    run.began_ns = NowNs();
    if (run.phases != nullptr) run.phases->began_ns = run.began_ns;
    if (engine != nullptr) SLIM_TRY(application.Compute(*engine));
    run.ended_ns = NowNs();
    double slowest =
        engine != nullptr ? static_cast<double>(run.ended_ns - run.began_ns) * 1e-9 : 0;
    Traffic traffic = fabric.traffic();
    std::uint64_t next = run.phases != nullptr ? run.phases->handover.next_compute() : 0;
    SLIM_TRY(work.ServeWhile([&]() -> Status {
      SLIM_ASSIGN(slowest, cluster.all().AllMax(slowest));
      if (run.phases == nullptr) return {};
      SLIM_ASSIGN(next, cluster.all().AllMax(next));
      return {};
    }));
    run.moves_to = static_cast<NodeId>(next);
    if (run.phases != nullptr && next == 0) run.phases->handover.NoteEnd();
    seconds.push_back(slowest);
    run.run_traffic = serves ? fabric.traffic() : traffic;
  }
  if (options.repeat > 1) run.report.Set("/time/runs_s", seconds);
  std::sort(seconds.begin(), seconds.end());
  run.run_s = seconds[seconds.size() / 2];
  if (run.phases != nullptr) run.run_s += run.phases->SecondsUntil(run.began_ns);
  const double cpu_s = engine == nullptr ? ProcessorSeconds() - cpu_before_s : 0;
  SLIM_ASSIGN(const double memory_cpu_s, cluster.all().AllSum(cpu_s));
  run.report.Set("/remote/memory_cpu_s", memory_cpu_s);
  return {};
}

// The memory that node 0 needs for the values of all vertices and, to verify them, for the whole
// graph with its weights as doubles.
std::uint64_t ResultBytes(bool verify, const std::string& output, const GraphSource& file,
                          bool reverse) {
  if (!verify && output.empty()) return 0;
  const std::uint64_t values =
      std::uint64_t{file.vertices()} * sizeof(double) +
      (output.empty() ? 0 : ValueFile::MemoryBytes(output, file.vertices()));
  if (!verify) return values;
  // Of a graph whose directions are ignored, the serial computation makes the reverse lists.
  const std::size_t weight_bytes = WeightBytes(file.weight_type());
  return 5 * values + (reverse ? file.arcs() * sizeof(VertexId) : 0) +
         file.arcs() * (sizeof(VertexId) + weight_bytes + (weight_bytes > 0 ? sizeof(double) : 0));
}

// Adds the memory for the state of a step: two copies if the job survives deaths, one if its
// compute nodes change. Node 0 has it, and the other compute nodes map the parts that they write.
void AddState(MemoryPlan& plan, const JobOptions& job, NodeId compute, std::uint64_t bytes) {
  const std::uint64_t states = job.survive ? 2 : job.schedule.empty() ? 0 : 1;
  plan.node_bytes[0] += states * bytes;
  for (NodeId node = 1; node < compute; ++node) {
    plan.node_bytes[node] += states * bytes / compute;
    plan.mapped_bytes[node] += states * bytes / compute;
  }
}

// Reports each node's peak memory after loading, before the program allocates its own arrays.
Status ReportLoadedMemory(JobRun& run) {
  const std::uint64_t mine = PeakMemoryBytes();
  SLIM_ASSIGN(const auto loaded_bytes, GatherList(run.cluster.all(), std::span(&mine, 1)));
  run.report.Set("/memory/loaded_bytes", loaded_bytes);
  return {};
}

// Reports how long lists and messages took, and how much of that time no computation hid. Seconds
// are summed over threads.
Status ReportCommunication(JobRun& run, const dgemini::Engine* engine) {
  std::array<double, 3> seconds{};  // lists in flight, waits for lists, waits for messages
  if (engine != nullptr) {
    const FetchTimes lists = engine->fetch_times();
    seconds = {static_cast<double>(lists.under_way_ns) * 1e-9,
               static_cast<double>(lists.waited_ns) * 1e-9,
               static_cast<double>(engine->exchange_waited_ns()) * 1e-9};
  }
  SLIM_TRY(run.cluster.all().AllReduce(std::span<double>(seconds), std::plus<>()));
  const auto [lists_s, lists_waited_s, messages_waited_s] = seconds;
  const auto share = [](double part, double all) { return all > 0 ? part / all : 0; };
  Report& report = run.report;
  report.Set("/communication/lists_s", lists_s);
  report.Set("/communication/lists_waited_s", lists_waited_s);
  report.Set("/communication/lists_not_hidden_share", share(lists_waited_s, lists_s));
  report.Set("/communication/messages_waited_s", messages_waited_s);
  report.Set("/communication/not_hidden_share",
             share(lists_waited_s + messages_waited_s, lists_s + messages_waited_s));
  return {};
}

// How many steps took their lists which way: pushes and pulls read them; or memory nodes reduce.
void ReportWays(Report& report, const dgemini::Engine& engine, std::uint64_t repeat) {
  const auto set = [&](const char* way, std::uint64_t steps) {
    report.Set(std::string("/steps/") + way, steps / std::max<std::uint64_t>(1, repeat));
  };
  set("push", engine.counts().steps - engine.counts().pulls);
  set("pull", engine.counts().pulls - engine.counts().reduced);
  set("reduce", engine.counts().reduced);
  set("collect", engine.counts().collects - engine.counts().reduced_collects);
  set("reduce_collect", engine.counts().reduced_collects);
}

Status ReportEngine(JobRun& run, const VertexOptions& options, const GraphSource& file,
                    const dgemini::Workload& work, const dgemini::Engine* engine) {
  constexpr const char* kModes[] = {"push", "pull", "auto"};
  constexpr const char* kLevels[] = {"naive", "none", "bitmap", "index", "edge"};
  constexpr const char* kSides[] = {"strict", "serve", "reduce", "auto"};
  Report& report = run.report;
  SetGraph(report, file);
  report.Set("/options/mode", std::string(kModes[static_cast<int>(options.mode)]));
  report.Set("/options/cache", std::string(kLevels[static_cast<int>(options.cache.level)]));
  report.Set("/options/memory-side", std::string(kSides[static_cast<int>(options.cache.side)]));
  Collectives& all = run.cluster.all();
  SLIM_ASSIGN(const double waited_s,
              all.AllMax(engine == nullptr ? 0 : static_cast<double>(engine->waited_ns()) * 1e-9));
  report.Set("/time/waited_s", waited_s);
  SLIM_TRY(ReportCommunication(run, engine));
  SLIM_ASSIGN(const std::uint64_t remote_arcs, all.AllSum(work.remote_arcs()));
  SLIM_ASSIGN(const std::uint64_t index_bytes, all.AllSum(work.index_bytes()));
  report.Set("/remote/arcs", remote_arcs);
  report.Set("/remote/index_bytes", index_bytes);
  if (engine != nullptr) {
    report.Set("/result/steps",
               engine->counts().steps / std::max<std::uint64_t>(1, options.repeat));
    report.Set("/result/pulls",
               engine->counts().pulls / std::max<std::uint64_t>(1, options.repeat));
    ReportWays(report, *engine, options.repeat);
  }
  return {};
}

}  // namespace

Status VertexApplication::AfterLoad(Cluster&, const dgemini::Workload&) { return {}; }

void DeclareVertexOptions(Options& options, VertexOptions& vertex) {
  options.Choice("--mode", "how a step uses edges; auto chooses in each step",
                 {"push", "pull", "auto"}, vertex.mode);
  options.Choice("--cache",
                 "what compute nodes keep of memory nodes' lists; naive: nothing, and they fetch "
                 "one list after the other, for comparison",
                 {"naive", "none", "bitmap", "index", "edge"}, vertex.cache.level);
  DeclareListAccess(options, vertex.cache.edges, vertex.job);
  options.Choice("--memory-side",
                 "strict: memory nodes do nothing, others read their memory; serve: they gather "
                 "the lists that others request; reduce: in steps that pull, they combine the "
                 "values of their lists' vertices, if the program allows it; auto: reduce or "
                 "strict, whichever takes fewer bytes in a step",
                 {"strict", "serve", "reduce", "auto"}, vertex.cache.side);
  options.Number(
      "--memory-cpu", "PERCENT",
      "reduce and auto: the processor time that each memory node may spend, in percent of one "
      "processor; beyond it, its lists are read; 0: no limit",
      vertex.cache.memory_cpu_percent, 0, 1e9);
  options.Choice("--delegate",
                 "block: all compute nodes have equally much to do, several may work for a memory "
                 "node; node: one compute node works for each",
                 {"block", "node"}, vertex.cache.delegation);
  options
      .Text("-o,--output", "FILE",
            "a line 'id value' for each vertex; FILE.csv: 'id,value'; FILE.npy: records for NumPy; "
            "-: standard output",
            vertex.output)
      .Default("no file");
  options.Flag("--verify", "compare the result with that of a serial computation", vertex.verify);
  options.Number("--repeat", "R", "compute R times, and report the median time", vertex.repeat);
  DeclareMoves(options, vertex.job, "before these steps of the program, such as 4@0,1@8",
               "the values of each step");
  DeclareJobOptions(options, vertex.job);
}

Result<VertexId> FindVertex(const OriginalIds& ids, std::uint64_t id, const char* what) {
  if (const auto v = ids.Find(id)) return *v;
  if (ids.count() == 0) return InputError("{} {}: the graph has no vertices", what, id);
  if (ids.contiguous()) {
    return InputError("{} {} is out of range: the graph has vertices {}..{}", what, id,
                      ids.smallest(), ids.largest());
  }
  return InputError("{} {} is no vertex of the graph, which has {} from {} to {}", what, id,
                    FormatCount(ids.count()), ids.smallest(), ids.largest());
}

namespace {

// Creates the file before the computation, so that a wrong path costs none. Nothing on other nodes
// than 0.
Result<std::unique_ptr<ValueFile>> MakeOutput(const VertexWork& work) {
  if (work.run.cluster.self() != 0 || work.output.empty()) return std::unique_ptr<ValueFile>();
  work.run.text_to_stderr = IsStandardOutput(work.output);
  return ValueFile::Create(work.output);
}

void AddNeeds(dgemini::WorkloadNeeds& all, const dgemini::WorkloadNeeds& more) {
  all.weights |= more.weights;
  all.pull_in |= more.pull_in;
  all.pull_out |= more.pull_out;
  all.vertex_bytes += more.vertex_bytes;
  all.share_bytes += more.share_bytes;
  all.list_bytes = std::max(all.list_bytes, more.list_bytes);
}

// Runs one application on the loaded graph. `alone`: nothing else will be computed on it.
Status RunOn(const VertexWork& one, const VertexOptions& options, const GraphSource& file,
             const OriginalIds& ids, dgemini::Workload& work, dgemini::Exchange& exchange,
             ValueFile* output, bool alone) {
  JobRun& run = one.run;
  Cluster& cluster = run.cluster;
  VertexApplication& application = one.application;
  std::unique_ptr<dgemini::Engine> engine;
  if (cluster.computes()) {
    engine = std::make_unique<dgemini::Engine>(cluster, work, exchange, options.mode);
    if (run.phases != nullptr) engine->SetHandover(&run.phases->handover);
    if (!alone) engine->CacheAtOnce();
  }
  SLIM_TRY(Measure(run, options, work, engine.get(), application));
  if (run.moves_to != 0) return {};
  if (engine) SLIM_TRY(application.ReportResult(*engine, run));
  SLIM_TRY(ReportEngine(run, options, file, work, engine.get()));
  const Topology& topology = cluster.topology();
  run.text +=
      fmt::format("in {} on {}, {} of them only hold memory\n", FormatSeconds(run.run_s),
                  FormatCounted(topology.nodes(), "node"), topology.nodes() - topology.compute());
  if (engine && (options.verify || !one.output.empty())) SLIM_TRY(application.Gather(*engine));
  if (cluster.self() == 0 && options.verify) {
    SLIM_ASSIGN(const Csr lists, ReadCsr(file));
    SLIM_TRY(application.Verify(lists));
    run.report.Set("/verified", true);
    run.text += "the result equals that of a serial computation\n";
  }
  if (output != nullptr) SLIM_TRY(WriteOutput(*output, ids, application));
  return cluster.all().Barrier();
}

// Whether the graph is to be read as undirected: all of the applications must want it.
Result<bool> IgnoreDirections(const GraphSource& graph,
                              std::span<const VertexApplication* const> applications) {
  const auto ignores = [](const auto* one) { return one->IgnoresDirections(); };
  if (!graph.directed() || std::none_of(applications.begin(), applications.end(), ignores)) {
    return false;
  }
  if (std::all_of(applications.begin(), applications.end(), ignores)) return true;
  return UsageError(
      "{} is directed: cdlp, kcore and mis, which ignore directions, need a command of their own",
      graph.path());
}

bool WantUnitWeights(std::span<const VertexApplication* const> applications) {
  return std::any_of(applications.begin(), applications.end(),
                     [](const auto* one) { return one->unit_weights(); });
}

}  // namespace

PoolGraph WithVertexView(PoolGraph graph, std::vector<const VertexApplication*> applications) {
  graph.views_are_graphs = true;
  graph.view_of = [all = std::move(applications)](const StandingGraph& of) -> Result<std::string> {
    SLIM_ASSIGN(const bool ignore, IgnoreDirections(of, all));
    return std::string(ignore ? kBothView : WantUnitWeights(all) ? kUnitView : "");
  };
  return graph;
}

Status RunVertexApplications(JobRun& run, const VertexOptions& options,
                             std::span<const VertexWork> works) {
  Cluster& cluster = run.cluster;
  const std::uint64_t start_ns = NowNs();
  std::optional<SlimFile> slim;
  if (run.standing == nullptr) {
    SLIM_ASSIGN(slim, SlimFile::Open(options.graph.path, options.graph.how.in));
  }
  const GraphSource& loaded =
      slim ? static_cast<const GraphSource&>(*slim) : run.standing->with_directions();
  const UnitWeights with_units(loaded);
  std::vector<const VertexApplication*> applications;
  for (const VertexWork& one : works) applications.push_back(&one.application);
  const bool wraps = slim && WantUnitWeights(applications);
  const GraphSource& file = wraps ? static_cast<const GraphSource&>(with_units) : loaded;
  SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
  std::optional<BothDirections> both;
  SLIM_ASSIGN(const bool ignore, IgnoreDirections(file, applications));
  if (ignore && slim) {
    SLIM_ASSIGN(both, BothDirections::Of(file));
  }
  // A pool has the view that the applications need.
  const GraphSource& graph = both   ? static_cast<const GraphSource&>(*both)
                             : slim ? file
                                    : *run.standing;
  dgemini::WorkloadNeeds needs;
  std::uint64_t result_bytes = 0;
  std::vector<std::unique_ptr<ValueFile>> outputs;
  for (const VertexWork& one : works) {
    SLIM_TRY(one.application.Prepare(file, ids));
    SLIM_ASSIGN(outputs.emplace_back(), MakeOutput(one));
    AddNeeds(needs, one.application.Needs(options.mode));
    result_bytes += ResultBytes(options.verify, one.output, file, ignore);
  }
  needs.cache = options.cache;
  SLIM_TRY(DecideEdgeBudget(cluster, needs.cache.edges));
  dgemini::Exchange exchange(cluster);
  // The values, and one byte per vertex for a frontier.
  const auto state_bytes = static_cast<std::uint64_t>((needs.vertex_bytes + 1) * file.vertices());
  const auto announce = [&](MemoryPlan& plan) {
    const std::uint64_t id_bytes =
        slim ? slim->original_id_bytes() : run.standing->original_id_bytes();
    for (std::uint64_t& bytes : plan.node_bytes) bytes += id_bytes;
    plan.node_bytes[0] += result_bytes;
    AddState(plan, options.job, cluster.topology().compute(), state_bytes);
    AnnounceMemory(run)(plan);
  };
  SLIM_ASSIGN(const auto work, dgemini::Workload::Load(cluster, graph, needs, announce));
  for (const VertexWork& one : works) SLIM_TRY(one.application.AfterLoad(cluster, *work));
  SLIM_TRY(cluster.all().Barrier());
  run.load_s += SecondsSince(start_ns);
  run.load_traffic = cluster.fabric().traffic();
  SLIM_TRY(ReportLoadedMemory(run));
  run.text = fmt::format("{}: {} vertices, {} edges\n", file.path(), FormatCount(file.vertices()),
                         FormatCount(file.edges()));
  const bool alone = works.size() == 1 && options.repeat <= 1;
  for (std::size_t i = 0; i < works.size(); ++i) {
    SLIM_TRY(RunOn(works[i], options, file, ids, *work, exchange, outputs[i].get(), alone));
  }
  return {};
}

Status RunVertexApplication(JobRun& run, const VertexOptions& options,
                            VertexApplication& application) {
  const VertexWork work{application, run, options.output};
  return RunVertexApplications(run, options, std::span(&work, 1));
}

}  // namespace slimgraph
