#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dgemini/programs.h"
#include "slimgraph/files/generate.h"
#include "slimgraph/remote/standing_graph.h"
#include "tests/dgemini/graphs.h"
#include "tests/support/node_processes.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

struct Shape {
  NodeId nodes;
  NodeId compute;
  bool standing = false;  // the memory nodes have the graph already, as those of a pool
};

// The graph as one node of such a job sees it.
std::unique_ptr<GraphSource> Open(const Cluster& cluster, const std::string& path, bool standing) {
  if (!standing) return std::make_unique<SlimFile>(Unwrap(SlimFile::Open(path)));
  const NodeId compute = cluster.topology().compute();
  const NodeId part = cluster.computes() ? 0 : cluster.self() - compute;
  const NodeId parts = cluster.topology().nodes() - compute;
  StandingPart loaded = Unwrap(LoadStandingPart(path, path, part, parts, 1));
  if (cluster.computes()) loaded.memories.clear();
  return Unwrap(StandingGraph::Open(loaded.facts, std::move(loaded.memories)));
}

Result<dgemini::VertexArray<double>> SsspOf(dgemini::Engine& engine, const TestGraph& graph,
                                            WeightType type) {
  const VertexId source = graph.sources[0];
  dgemini::VertexArray<double> reals(engine.vertices());
  const auto widen = [&](const auto& distances) {
    using T = std::remove_cvref_t<decltype(distances[0])>;
    for (VertexId v = 0; v < engine.vertices(); ++v) {
      reals[v] = distances[v] == dgemini::kUnreachable<T> ? dgemini::kUnreachable<double>
                                                          : static_cast<double>(distances[v]);
    }
  };
  if (type == WeightType::kInt32) {
    widen(Unwrap(dgemini::Sssp<std::int32_t>(engine, source, std::uint32_t{5}, std::uint32_t{80})));
    widen(Unwrap(
        dgemini::Sssp<std::int32_t>(engine, source, std::uint64_t{1000}, std::uint64_t{1000})));
  } else if (type == WeightType::kFloat32) {
    widen(Unwrap(dgemini::Sssp<float>(engine, source, 25.0, 400.0)));
  } else {
    widen(Unwrap(dgemini::Sssp<double>(engine, source, 25.0, 400.0)));
  }
  return reals;
}

dgemini::PageRankOptions TestIterations() {
  dgemini::PageRankOptions options;
  options.iterations = kTestIterations;
  return options;
}

void ExpectLabels(dgemini::Engine& engine, const OriginalIds& ids,
                  const std::vector<std::uint64_t>& expected, const std::string& what) {
  auto labels = Unwrap(dgemini::PropagateLabels(engine, ids, kTestIterations)).label;
  const auto different = Unwrap(engine.CountDifferent(labels));
  EXPECT_EQ(different, std::set(expected.begin(), expected.end()).size()) << what;
  Unwrap(engine.Gather(labels));
  if (!engine.first()) return;
  EXPECT_EQ(LabelIds(labels, ids), expected) << what;
}

// Runs all applications on one graph, and compares them with the serial results on node 0.
void RunAll(Cluster& cluster, dgemini::Exchange& exchange, const TestGraph& graph,
            dgemini::Mode mode, const CacheOptions& cache, const std::string& where,
            bool standing = false) {
  const auto opened = Open(cluster, graph.path, standing);
  const GraphSource& file = *opened;
  const dgemini::WorkloadNeeds needs{.weights = graph.weighted,
                                     .pull_in = mode != dgemini::Mode::kPush,
                                     .pull_out = true,
                                     .cache = cache};
  const auto work = Unwrap(dgemini::Workload::Load(cluster, file, needs, [](const MemoryPlan&) {}));
  if (cluster.computes() && file.vertices() > 0) {
    dgemini::Engine engine(cluster, *work, exchange, mode);
    const VertexId source = graph.sources[0];
    ExpectNear(engine, Unwrap(dgemini::Bfs(engine, source)), graph.depth, 0, where + " bfs");
    auto ranks = Unwrap(dgemini::PageRank(engine, TestIterations()));
    EXPECT_NEAR(Unwrap(engine.Sum([&](VertexId v) { return ranks.rank[v]; })), 1, 1e-12) << where;
    ExpectNear(engine, std::move(ranks.rank), graph.rank, 1e-12, where + " pagerank");
    dgemini::PageRankOptions in_floats = TestIterations();
    in_floats.precision = dgemini::Precision::kFloat;
    ranks = Unwrap(dgemini::PageRank(engine, in_floats));
    ExpectNear(engine, std::move(ranks.rank), graph.rank, 1e-6, where + " pagerank in floats");
    dgemini::PageRankOptions from = TestIterations();
    from.source = source;
    ranks = Unwrap(dgemini::PageRank(engine, from));
    EXPECT_NEAR(Unwrap(engine.Sum([&](VertexId v) { return ranks.rank[v]; })), 1, 1e-12) << where;
    ExpectNear(engine, std::move(ranks.rank), graph.rank_from, 1e-12, where + " pagerank from");
    auto near = graph.depth;
    std::ranges::replace_if(
        near, [](auto depth) { return depth > 2; }, dgemini::kUnreached);
    ExpectNear(engine, Unwrap(dgemini::Bfs(engine, source, 2)), near, 0, where + " khop");
    ExpectNear(engine, Unwrap(dgemini::Components(engine, file.directed())), graph.component, 0,
               where + " cc");
    ExpectNear(engine, Unwrap(dgemini::Centrality(engine, graph.sources)), graph.centrality, 1e-9,
               where + " bc");
    if (graph.weighted) {
      ExpectNear(engine, Unwrap(SsspOf(engine, graph, file.weight_type())), graph.distance, 1e-12,
                 where + " sssp");
    }
  }
  Unwrap(work->ServeWhile([&] { return cluster.all().Barrier(); }));
  if (file.vertices() == 0 || (standing && file.directed())) return;
  IgnoringDirections(cluster, file, needs, exchange, mode,
                     [&](dgemini::Engine& engine, const OriginalIds& ids) {
                       ExpectLabels(engine, ids, graph.labels, where + " cdlp");
                       ExpectNear(engine, Unwrap(dgemini::CoreNumbers(engine, graph.simple)),
                                  graph.cores, 0, where + " kcore");
                       ExpectNear(engine, Unwrap(dgemini::IndependentSet(engine, ids, kTestSeed)),
                                  graph.members, 0, where + " mis");
                     });
}

class ApplicationsOn : public ::testing::TestWithParam<Shape> {};

TEST_P(ApplicationsOn, AgreeWithSerialCodesInAllModesAndCaches) {
  const auto [nodes, compute, standing] = GetParam();
  const GraphWorld& world = TheWorld();
  for (const std::uint32_t threads : {1U, 2U}) {
    if (nodes >= 5 && (threads + nodes + compute + world.seed) % 2 == 0) continue;  // saves time
    ExpectNodesRun(nodes, [&, nodes = nodes, compute = compute, standing = standing](Job& job) {
      auto cluster =
          Unwrap(Cluster::Start(job, {.compute = compute,
                                      .threads = threads,
                                      .in_place = {.any = (threads + world.seed) % 2 == 0}}));
      dgemini::Exchange exchange(*cluster);
      // Each shape uses different caches for a graph and mode, so that all combinations occur.
      std::size_t turn = nodes + compute * 5 + threads + world.seed % 7;
      for (const TestGraph& graph : world.graphs) {
        for (const dgemini::Mode mode :
             {dgemini::Mode::kPush, dgemini::Mode::kPull, dgemini::Mode::kAuto}) {
          constexpr double kPercents[] = {100, 100, 100, 100, 30, 0};
          const std::size_t c = turn++ % 6;
          CacheOptions cache{.level = static_cast<CacheLevel>(1 + std::min<std::size_t>(c, 3)),
                             .edges = {.percent = kPercents[c]},
                             .side = static_cast<MemorySide>(turn / 6 % (standing ? 2 : 4))};
          RunAll(*cluster, exchange, graph, mode, cache,
                 fmt::format("{} mode {} cache {} side {} ({},{}) threads {}", graph.name,
                             static_cast<int>(mode), c, static_cast<int>(cache.side), nodes,
                             compute, threads),
                 standing);
        }
      }
      Unwrap(cluster->Stop());
    });
  }
}

std::vector<Shape> AllShapes() {
  std::vector<Shape> shapes;
  for (NodeId nodes = 1; nodes <= 5; ++nodes) {
    for (NodeId compute = 1; compute <= nodes; ++compute) shapes.push_back({nodes, compute});
  }
  shapes.push_back({8, 1});
  shapes.push_back({8, 3});
  for (const Shape shape : {Shape{2, 1, true}, {4, 1, true}, {3, 2, true}, {5, 3, true}}) {
    shapes.push_back(shape);
  }
  return shapes;
}

TEST(Applications, AgreeWithSerialCodesOnSmallSharedFrontiers) {
  std::mt19937_64 random(TheWorld().seed);
  const TestGraph graph = MakeLargeGrid(TheWorld().folder, random);
  struct Setting {
    Shape shape;
    std::uint32_t threads;
  };
  for (const auto& [shape, threads] : {Setting{{1, 1}, 2}, {{1, 1}, 4}, {{3, 2}, 2}}) {
    ExpectNodesRun(shape.nodes, [&](Job& job) {
      auto cluster = Unwrap(Cluster::Start(job, {.compute = shape.compute, .threads = threads}));
      dgemini::Exchange exchange(*cluster);
      RunAll(*cluster, exchange, graph, dgemini::Mode::kAuto, {},
             fmt::format("({},{}) threads {}", shape.nodes, shape.compute, threads));
      Unwrap(cluster->Stop());
    });
  }
}

// Layers of vertices; each vertex has edges to all of the previous layer: width^layers paths.
TEST(Centrality, IsCorrectWithMorePathsThanADoubleHolds) {
  constexpr VertexId kLayers = 250;
  constexpr VertexId kWidth = 24;
  EdgeList list{.vertices = kLayers * kWidth, .edges = {}, .weights = {}, .directed = false};
  for (VertexId v = kWidth; v < list.vertices; ++v) {
    const VertexId before = (v / kWidth - 1) * kWidth;
    for (VertexId u = before; u < before + kWidth; ++u) list.edges.push_back({u, v});
  }
  const std::string path = TheWorld().folder + "/layers.slim";
  Unwrap(WriteSlimFile(list, path));
  const std::vector<VertexId> sources = {0, kWidth * 3 + 1};
  const auto expected = dgemini::serial::Centrality(Unwrap(BuildCsr(list)), sources);
  for (const Shape shape : {Shape{1, 1}, Shape{3, 2}, Shape{4, 1}}) {
    ExpectNodesRun(shape.nodes, [&](Job& job) {
      auto cluster = Unwrap(Cluster::Start(job, {.compute = shape.compute, .threads = 2}));
      dgemini::Exchange exchange(*cluster);
      const SlimFile file = Unwrap(SlimFile::Open(path));
      const auto work = Unwrap(dgemini::Workload::Load(
          *cluster, file, {.pull_in = true, .pull_out = true}, [](const MemoryPlan&) {}));
      for (const dgemini::Mode mode : {dgemini::Mode::kPush, dgemini::Mode::kPull}) {
        if (!cluster->computes()) break;
        dgemini::Engine engine(*cluster, *work, exchange, mode);
        ExpectNear(engine, Unwrap(dgemini::Centrality(engine, sources)), expected, 1e-9,
                   fmt::format("({},{})", shape.nodes, shape.compute));
      }
      Unwrap(cluster->Stop());
    });
  }
}

// A graph that is large compared with a small edge cache, and its serial results.
struct ColdGraph {
  explicit ColdGraph(const GraphWorld& world) : path(world.folder + "/cold.slim") {
    GenerateOptions options;
    options.out = path;
    options.scale = 12;
    options.seed = world.seed;
    options.weights = {1, 255};
    Unwrap(Generate(options));
    const Csr lists = Unwrap(ReadCsr(Unwrap(SlimFile::Open(path))));
    std::mt19937_64 random(world.seed);
    while (sources.size() < 3) {
      const auto source = static_cast<VertexId>(random() % lists.vertices());
      if (lists.degree(source) == 0) continue;
      sources.push_back(source);
      distances.push_back(dgemini::serial::Sssp(lists, source));
    }
    depth = dgemini::serial::Bfs(lists, sources[0]);
    rank = dgemini::serial::PageRank(lists, TestIterations()).rank;
    component = dgemini::serial::Components(lists);
    centrality = dgemini::serial::Centrality(lists, sources);
    labels = dgemini::serial::PropagateLabels(lists, false, OriginalIds(0, lists.vertices()),
                                              kTestIterations);
    cores = dgemini::serial::CoreNumbers(lists, false);
    members = dgemini::serial::IndependentSet(lists, OriginalIds(0, lists.vertices()), kTestSeed);
  }
  std::string path;
  std::vector<VertexId> sources;
  std::vector<std::vector<double>> distances;  // by source
  std::vector<std::uint32_t> depth;
  std::vector<double> rank;
  std::vector<VertexId> component;
  std::vector<double> centrality;
  std::vector<std::uint64_t> labels;
  std::vector<std::uint32_t> cores;
  std::vector<std::uint8_t> members;
};

// Runs each application on a fresh workload. Otherwise lists that one application leaves in the
// edge cache would keep the next one from fetching.
void RunEachCold(Cluster& cluster, const ColdGraph& graph, const CacheOptions& cache,
                 const std::string& where, bool standing) {
  dgemini::Exchange exchange(cluster);
  const auto opened = Open(cluster, graph.path, standing);
  const GraphSource& file = *opened;
  const auto run = [&](dgemini::WorkloadNeeds needs, const auto& compute) {
    needs.cache = cache;
    const auto work =
        Unwrap(dgemini::Workload::Load(cluster, file, needs, [](const MemoryPlan&) {}));
    if (cluster.computes()) {
      dgemini::Engine engine(cluster, *work, exchange, dgemini::Mode::kAuto);
      compute(engine);
    }
    Unwrap(work->ServeWhile([&] { return cluster.all().Barrier(); }));
  };
  for (std::size_t i = 0; i < graph.sources.size(); ++i) {
    run({.weights = true, .pull_in = true}, [&](dgemini::Engine& engine) {
      constexpr std::uint32_t kDeltas[] = {8, 64, 1000};
      ExpectNear(engine,
                 Unwrap(dgemini::Sssp<std::int32_t>(engine, graph.sources[i], kDeltas[i],
                                                    16 * kDeltas[i])),
                 graph.distances[i], 0, fmt::format("{} sssp of {}", where, graph.sources[i]));
    });
  }
  run({.pull_in = true}, [&](dgemini::Engine& engine) {
    ExpectNear(engine, Unwrap(dgemini::Bfs(engine, graph.sources[0])), graph.depth, 0,
               where + " bfs");
  });
  run({.pull_in = true}, [&](dgemini::Engine& engine) {
    auto ranks = Unwrap(dgemini::PageRank(engine, TestIterations()));
    ExpectNear(engine, std::move(ranks.rank), graph.rank, 1e-12, where + " pagerank");
  });
  run({.pull_out = true}, [&](dgemini::Engine& engine) {
    ExpectNear(engine, Unwrap(dgemini::Components(engine, false)), graph.component, 0,
               where + " cc");
  });
  run({.pull_in = true, .pull_out = true}, [&](dgemini::Engine& engine) {
    ExpectNear(engine, Unwrap(dgemini::Centrality(engine, graph.sources)), graph.centrality, 1e-9,
               where + " bc");
  });
  run(dgemini::LabelsNeeds(dgemini::Mode::kAuto), [&](dgemini::Engine& engine) {
    ExpectLabels(engine, OriginalIds(0, engine.vertices()), graph.labels, where + " cdlp");
  });
  run(dgemini::CoresNeeds(dgemini::Mode::kAuto), [&](dgemini::Engine& engine) {
    ExpectNear(engine, Unwrap(dgemini::CoreNumbers(engine, true)), graph.cores, 0,
               where + " kcore");
  });
  run(dgemini::IndependentSetNeeds(), [&](dgemini::Engine& engine) {
    const OriginalIds ids(0, engine.vertices());
    ExpectNear(engine, Unwrap(dgemini::IndependentSet(engine, ids, kTestSeed)), graph.members, 0,
               where + " mis");
  });
}

class ColdApplicationsOn : public ::testing::TestWithParam<Shape> {};

TEST_P(ColdApplicationsOn, AgreeWithSerialCodesOverEachTransportAndCache) {
  static const ColdGraph graph(TheWorld());
  const auto [nodes, compute, standing] = GetParam();
  std::vector<CacheOptions> caches;
  for (const MemorySide side : {MemorySide::kStrict, MemorySide::kServe}) {
    for (const CacheLevel level : {CacheLevel::kNone, CacheLevel::kBitmap, CacheLevel::kIndex}) {
      caches.push_back({.level = level, .edges = {}, .side = side});
    }
    for (const double percent : {0.0, 5.0, 60.0, 100.0}) {
      caches.push_back({.level = CacheLevel::kEdge, .edges = {.percent = percent}, .side = side});
    }
  }
  caches.push_back({.level = CacheLevel::kNaive, .edges = {}});
  for (const CacheLevel level : {CacheLevel::kNone, CacheLevel::kEdge}) {
    for (const MemorySide side : {MemorySide::kReduce, MemorySide::kAuto}) {
      caches.push_back({.level = level, .edges = {.percent = 5}, .side = side});
    }
  }
  if (nodes == compute) caches = {caches.back()};
  std::uint64_t turn = TheWorld().seed;
  for (const char* const transport : {"shm", "tcp"}) {
    for (const CacheOptions& cache : caches) {
      const std::uint32_t threads = 1 + ++turn / 2 % 2;
      if (compute > 1 && compute < nodes && turn % 2 == 0) continue;  // saves time
      ExpectNodesRun(nodes, [&, compute = compute, standing = standing](Job& job) {
        auto cluster = Unwrap(
            Cluster::Start(job, {.compute = compute, .threads = threads, .transport = transport}));
        RunEachCold(*cluster, graph, cache,
                    fmt::format("({},{}) {} cache {} of {}% side {} threads {}", job.nodes(),
                                compute, transport, static_cast<int>(cache.level),
                                cache.edges.percent, static_cast<int>(cache.side), threads),
                    standing);
        Unwrap(cluster->Stop());
      });
    }
  }
}

std::string NameOfShape(const ::testing::TestParamInfo<Shape>& shape) {
  return fmt::format("{}nodes{}compute{}", shape.param.nodes, shape.param.compute,
                     shape.param.standing ? "standing" : "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, ColdApplicationsOn,
                         ::testing::Values(Shape{1, 1}, Shape{2, 1}, Shape{4, 1}, Shape{4, 2},
                                           Shape{4, 4}, Shape{3, 1, true}, Shape{5, 2, true}),
                         NameOfShape);
INSTANTIATE_TEST_SUITE_P(Shapes, ApplicationsOn, ::testing::ValuesIn(AllShapes()), NameOfShape);

}  // namespace
}  // namespace slimgraph::test
