// The scenarios of vertex programs: each application on a graph, cold, in all modes and with all
// caches, compared with the serial result.
#include <cmath>
#include <functional>
#include <random>

#include "dgemini/programs.h"
#include "slimgraph/cluster/handover.h"
#include "tests/dgemini/graphs.h"
#include "tests/sim/scenario.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

const std::vector<TestGraph>& Graphs() {
  static const std::vector<TestGraph> graphs = [] {
    std::mt19937_64 random(1);
    return MakeTestGraphs(ScenarioFolder(), random);
  }();
  return graphs;
}

struct VertexSetting {
  NodeId nodes = 1;
  NodeId compute = 1;
  std::uint32_t threads = 1;
  std::string transport;
  const TestGraph* graph = nullptr;
  dgemini::Mode mode = dgemini::Mode::kAuto;
  CacheOptions cache;
  int application = 0;
  dgemini::Precision precision = dgemini::Precision::kDouble;  // of PageRank
  std::uint64_t moves = 0;  // not 0: the compute nodes change; tells when, and to how many
};
constexpr int kApplications = 8;  // the last one needs weights
constexpr int kLabels = 4;
constexpr int kCores = 5;
constexpr int kSet = 6;

VertexSetting DrawSetting(World& world, NodeId least_nodes, NodeId most_nodes) {
  VertexSetting drawn;
  drawn.nodes = world.DrawNodes(least_nodes, static_cast<NodeId>(most_nodes + 1 - least_nodes));
  drawn.compute = static_cast<NodeId>(1 + world.Draw(drawn.nodes));
  drawn.threads = static_cast<std::uint32_t>(1 + world.Draw(2));
  drawn.transport = DrawTransport(world, drawn.nodes);
  do {
    drawn.graph = &Graphs()[world.Draw(Graphs().size())];
  } while (drawn.graph->sources.empty());
  drawn.mode = static_cast<dgemini::Mode>(world.Draw(3));
  constexpr double kPercents[] = {100, 60, 30, 5, 0};
  drawn.cache.level = static_cast<CacheLevel>(world.Draw(5));
  drawn.cache.edges.percent = kPercents[world.Draw(5)];
  drawn.cache.side = static_cast<MemorySide>(world.Draw(4));
  if (drawn.cache.level == CacheLevel::kNaive && drawn.cache.side == MemorySide::kServe) {
    drawn.cache.side = MemorySide::kStrict;
  }
  if (world.Draw(4) == 0) drawn.cache.delegation = Delegation::kNode;
  drawn.application =
      static_cast<int>(world.Draw(drawn.graph->weighted ? kApplications : kApplications - 1));
  if (world.Draw(2) == 0) drawn.precision = dgemini::Precision::kFloat;
  return drawn;
}

// Whether other compute nodes continue the program.
bool WasLeft(dgemini::Engine& engine) {
  if (engine.handover() == nullptr) return false;
  std::uint64_t next = engine.handover()->next_compute();
  Unwrap(engine.Reduce(std::span(&next, 1), std::plus<>()));
  return next != 0;
}

template <typename T, typename U>
void Compare(World& world, dgemini::Engine& engine, dgemini::VertexArray<T> found,
             const std::vector<U>& expected, double relative) {
  if (WasLeft(engine)) return;
  Unwrap(engine.Gather(found));
  if (!engine.first()) return;
  for (VertexId v = 0; v < expected.size(); ++v) {
    const bool never = static_cast<double>(expected[v]) == INFINITY;
    const auto at = static_cast<double>(found[v]);
    const auto should =
        never ? static_cast<double>(dgemini::kUnreachable<T>) : static_cast<double>(expected[v]);
    world.Check(at == should || std::abs(at - should) <= relative * std::abs(should),
                "vertex {} has {}, not {}", v, at, should);
  }
}

void RunApplication(World& world, dgemini::Engine& engine, const VertexSetting& setting,
                    const SlimFile& file, const OriginalIds& ids) {
  const TestGraph& graph = *setting.graph;
  const VertexId source = graph.sources[0];
  switch (setting.application) {
    case 0:
      return Compare(world, engine, Unwrap(dgemini::Bfs(engine, source)), graph.depth, 0);
    case 1: {
      dgemini::PageRankOptions options;
      options.iterations = kTestIterations;
      options.precision = setting.precision;
      if (setting.threads == 2) options.source = source;
      const auto& expected = setting.threads == 2 ? graph.rank_from : graph.rank;
      const double error = setting.precision == dgemini::Precision::kFloat ? 1e-6 : 1e-12;
      return Compare(world, engine, Unwrap(dgemini::PageRank(engine, options)).rank, expected,
                     error);
    }
    case 2:
      return Compare(world, engine, Unwrap(dgemini::Components(engine, file.directed())),
                     graph.component, 0);
    case 3:
      return Compare(world, engine, Unwrap(dgemini::Centrality(engine, graph.sources)),
                     graph.centrality, 1e-9);
    case kLabels: {
      auto labels = Unwrap(dgemini::PropagateLabels(engine, ids, kTestIterations)).label;
      if (WasLeft(engine)) return;
      Unwrap(engine.Gather(labels));
      if (engine.first()) world.Check(LabelIds(labels, ids) == graph.labels, "other labels");
      return;
    }
    case kCores:
      return Compare(world, engine, Unwrap(dgemini::CoreNumbers(engine, graph.simple)), graph.cores,
                     0);
    case kSet:
      return Compare(world, engine, Unwrap(dgemini::IndependentSet(engine, ids, kTestSeed)),
                     graph.members, 0);
    default:
      if (file.weight_type() == WeightType::kInt32) {
        return Compare(world, engine,
                       Unwrap(dgemini::Sssp<std::int32_t>(engine, source, std::uint32_t{5},
                                                          std::uint32_t{80})),
                       graph.distance, 0);
      }
      if (file.weight_type() == WeightType::kFloat32) {
        return Compare(world, engine, Unwrap(dgemini::Sssp<float>(engine, source, 25.0, 400.0)),
                       graph.distance, 1e-6);
      }
      return Compare(world, engine, Unwrap(dgemini::Sssp<double>(engine, source, 25.0, 400.0)),
                     graph.distance, 1e-12);
  }
}

// Returns how many compute nodes continue; 0: the program has ended.
NodeId RunVertex(World& world, Job& job, const VertexSetting& setting, NodeId compute,
                 Handover& handover) {
  const auto cluster = Unwrap(Cluster::Start(
      job, {.compute = compute, .threads = setting.threads, .transport = setting.transport}));
  std::uint64_t next = 0;
  {
    dgemini::Exchange exchange(*cluster);
    const SlimFile file = Unwrap(SlimFile::Open(setting.graph->path));
    const dgemini::WorkloadNeeds needs{.weights = setting.graph->weighted,
                                       .pull_in = setting.mode != dgemini::Mode::kPush,
                                       .pull_out = true,
                                       .cache = setting.cache};
    const auto run = [&](dgemini::Engine& engine, const OriginalIds& ids) {
      if (setting.moves != 0) engine.SetHandover(&handover);
      RunApplication(world, engine, setting, file, ids);
    };
    if (setting.application >= kLabels && setting.application <= kSet) {
      IgnoringDirections(*cluster, file, needs, exchange, setting.mode, run);
    } else {
      const auto work =
          Unwrap(dgemini::Workload::Load(*cluster, file, needs, [](const MemoryPlan&) {}));
      if (cluster->computes()) {
        dgemini::Engine engine(*cluster, *work, exchange, setting.mode);
        run(engine, {});
      }
      Unwrap(work->ServeWhile([&] { return cluster->all().Barrier(); }));
    }
    if (setting.moves != 0) next = Unwrap(cluster->all().AllMax(handover.next_compute()));
  }
  Unwrap(cluster->Stop());
  return static_cast<NodeId>(next);
}

// With moves, the compute nodes change at about every second step.
NodeId ComputeAt(const VertexSetting& setting, std::uint64_t step) {
  if (step == 0) return setting.compute;
  std::mt19937_64 random(setting.moves + step / 2);
  return static_cast<NodeId>(1 + random() % setting.nodes);
}

void RunVertex(World& world, Job& job, const VertexSetting& setting) {
  const bool keeps_each_step = setting.moves % 2 == 1;
  Handover at_node_0([&](std::uint64_t step) { return ComputeAt(setting, step); }, keeps_each_step);
  for (NodeId compute = setting.compute; compute != 0;) {
    Handover of_this_node;
    Handover& handover = job.self() == 0 ? at_node_0 : of_this_node;
    handover.SetFollowed();
    compute = RunVertex(world, job, setting, compute, handover);
  }
}

std::string NameOf(const VertexSetting& s) {
  constexpr const char* kNames[] = {"bfs", "pagerank", "cc", "bc", "cdlp", "kcore", "mis", "sssp"};
  return fmt::format(
      "{}{} on {}, ({},{}), {} threads, {}, mode {}, cache {} {} %, side {}, delegate {}, moves {}",
      kNames[s.application], s.precision == dgemini::Precision::kFloat ? " (float)" : "",
      s.graph->name, s.nodes, s.compute, s.threads, s.transport, static_cast<int>(s.mode),
      static_cast<int>(s.cache.level), s.cache.edges.percent, static_cast<int>(s.cache.side),
      s.cache.delegation == Delegation::kNode ? "node" : "block", s.moves);
}

std::function<std::string()> PrepareVertex(World& world, const World::Faults& faults,
                                           NodeId least_nodes = 1, NodeId most_nodes = 6,
                                           bool moves = false) {
  const auto setting = std::make_shared<VertexSetting>(DrawSetting(world, least_nodes, most_nodes));
  if (moves) setting->moves = 1 + world.Draw(1 << 20);
  return OnAllNodes(world, setting->nodes, faults, [&world, setting](Job& job) {
    if (job.self() == 0) world.Note(NameOf(*setting));
    RunVertex(world, job, *setting);
  });
}

}  // namespace

std::vector<Scenario> VertexScenarios() {
  return {
      {"vertex", "a vertex program gives the serial result",
       [](World& world) { return PrepareVertex(world, {}); }},
      {"vertex-faults", "the same; nodes die or stop, links are cut, and then all nodes end",
       [](World& world) { return PrepareVertex(world, {.most = 2, .within_ns = 200 * kMs}); }},
      {"vertex-moves", "the same as vertex; its compute nodes change between two steps",
       [](World& world) { return PrepareVertex(world, {}, 2, 6, true); }},
      {"vertex-moves-faults", "the same as vertex-moves; nodes die or stop, links are cut",
       [](World& world) {
         return PrepareVertex(world, {.most = 2, .within_ns = 200 * kMs}, 2, 6, true);
       }},
      {"vertex-crowd", "the same as vertex on more nodes than a word has bits",
       [](World& world) { return PrepareVertex(world, {}, kCrowd + 1, 2 * kCrowd + 2); },
       kOneSeedOfCrowds},
  };
}

}  // namespace slimgraph::test
