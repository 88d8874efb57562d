// Programs whose compute nodes change between two steps.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "dgemini/programs.h"
#include "slimgraph/cluster/handover.h"
#include "tests/dgemini/graphs.h"
#include "tests/support/node_processes.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

constexpr NodeId kNodes = 4;

// How many compute nodes there are at each step.
using Schedule = Handover::ComputeAt;

// Runs the program, and calls check(engine, values) on the compute nodes that have finished it.
// Returns, on node 0, how often others have continued. Collective over the job.
template <typename Program, typename Check>
int RunMoving(Job& job, const GraphSource& file, const Schedule& schedule,
              const CacheOptions& cache, dgemini::Mode mode, Program program, Check check) {
  Handover at_node_0(schedule);
  int moves = 0;
  for (NodeId compute = schedule(0);; ++moves) {
    auto cluster = Unwrap(Cluster::Start(job, {.compute = compute, .threads = 2}));
    std::uint64_t next = 0;
    {
      dgemini::Exchange exchange(*cluster);
      const dgemini::WorkloadNeeds needs{.weights = file.weight_type() != WeightType::kNone,
                                         .pull_in = mode != dgemini::Mode::kPush,
                                         .pull_out = true,
                                         .cache = cache};
      const auto work =
          Unwrap(dgemini::Workload::Load(*cluster, file, needs, [](const MemoryPlan&) {}));
      Handover of_this_node;
      Handover& handover = cluster->self() == 0 ? at_node_0 : of_this_node;
      handover.SetFollowed();
      std::optional<dgemini::Engine> engine;
      if (cluster->computes()) {
        engine.emplace(*cluster, *work, exchange, mode);
        engine->SetHandover(&handover);
        auto values = Unwrap(program(*engine));
        std::uint64_t left = handover.next_compute();
        Unwrap(engine->Reduce(std::span(&left, 1), std::plus<>()));
        if (left == 0) check(*engine, std::move(values));
      }
      next = handover.next_compute();
      Unwrap(work->ServeWhile([&]() -> Status {
        SLIM_ASSIGN(next, cluster->all().AllMax(next));
        return {};
      }));
    }
    Unwrap(cluster->Stop());
    if (next == 0) return moves;
    compute = static_cast<NodeId>(next);
  }
}

// Any number of compute nodes, which changes at about every second step.
Schedule RandomSchedule(std::uint64_t seed) {
  const auto random = std::make_shared<std::mt19937_64>(seed);
  const auto by_step = std::make_shared<std::map<std::uint64_t, NodeId>>();
  return [random, by_step](std::uint64_t step) {
    const auto known = by_step->find(step);
    if (known != by_step->end()) return known->second;
    const bool stays = !by_step->empty() && (*random)() % 2 != 0;
    const NodeId compute =
        stays ? by_step->rbegin()->second : 1 + static_cast<NodeId>((*random)() % kNodes);
    return (*by_step)[step] = compute;
  };
}

// Runs all programs on a graph.
class Mover {
 public:
  Mover(Job& job, const TestGraph& graph, const std::mt19937_64& random)
      : job_(job), graph_(graph), random_(random), file_(Unwrap(SlimFile::Open(graph.path))) {}

  int RunAll() {
    const VertexId source = graph_.sources[0];
    Run("bfs", graph_.depth, 0, [&](auto& engine) { return dgemini::Bfs(engine, source); });
    Run("pagerank", graph_.rank, 1e-12, [&](auto& engine) { return Ranks(engine, {}); });
    Run("pagerank from", graph_.rank_from, 1e-12,
        [&](auto& engine) { return Ranks(engine, source); });
    Run("cc", graph_.component, 0,
        [&](auto& engine) { return dgemini::Components(engine, file_.directed()); });
    Run("bc", graph_.centrality, 1e-9,
        [&](auto& engine) { return dgemini::Centrality(engine, graph_.sources); });
    RunSssp();
    if (file_.directed()) return moves_;
    const OriginalIds ids = Unwrap(file_.ReadOriginalIds());
    Run("kcore", graph_.cores, 0,
        [&](auto& engine) { return dgemini::CoreNumbers(engine, graph_.simple); });
    Run("mis", graph_.members, 0,
        [&](auto& engine) { return dgemini::IndependentSet(engine, ids, kTestSeed); });
    RunLabels(ids);
    return moves_;
  }

 private:
  Result<dgemini::VertexArray<double>> Ranks(dgemini::Engine& engine,
                                             std::optional<VertexId> source) {
    SLIM_ASSIGN(auto all,
                dgemini::PageRank(engine, {.iterations = kTestIterations, .source = source}));
    return std::move(all.rank);
  }
  void RunSssp() {
    const VertexId source = graph_.sources[0];
    if (file_.weight_type() == WeightType::kInt32) {
      Run("sssp", graph_.distance, 0, [&](auto& engine) {
        return dgemini::Sssp<std::int32_t>(engine, source, std::uint32_t{5}, std::uint32_t{80});
      });
    } else if (file_.weight_type() == WeightType::kFloat32) {
      Run("sssp", graph_.distance, 1e-12,
          [&](auto& engine) { return dgemini::Sssp<float>(engine, source, 25.0, 400.0); });
    } else if (graph_.weighted) {
      Run("sssp", graph_.distance, 1e-12,
          [&](auto& engine) { return dgemini::Sssp<double>(engine, source, 25.0, 400.0); });
    }
  }
  void RunLabels(const OriginalIds& ids) {
    RunWith(
        "cdlp",
        [&](auto& engine) -> Result<dgemini::VertexArray<VertexId>> {
          SLIM_ASSIGN(auto all, dgemini::PropagateLabels(engine, ids, kTestIterations));
          return std::move(all.label);
        },
        [&](dgemini::Engine& engine, dgemini::VertexArray<VertexId> found, const auto& what) {
          Unwrap(engine.Gather(found));
          if (!engine.first()) return;
          EXPECT_EQ(LabelIds(found, ids), graph_.labels) << what;
        });
  }

  template <typename U, typename Program>
  void Run(const char* name, const std::vector<U>& expected, double relative, Program program) {
    RunWith(name, program, [&](dgemini::Engine& engine, auto found, const auto& what) {
      ExpectNear(engine, std::move(found), expected, relative, what);
    });
  }
  template <typename Program, typename Check>
  void RunWith(const char* name, Program program, Check check) {
    constexpr dgemini::Mode kModes[] = {dgemini::Mode::kAuto, dgemini::Mode::kPush,
                                        dgemini::Mode::kPull};
    constexpr MemorySide kSides[] = {MemorySide::kStrict, MemorySide::kServe, MemorySide::kReduce};
    const auto mode = kModes[random_() % 3];
    CacheOptions cache;
    cache.side = kSides[random_() % 3];
    const std::uint64_t seed = random_();
    const std::string what =
        fmt::format("{} {} mode {} side {} seed {}", graph_.name, name, static_cast<int>(mode),
                    static_cast<int>(cache.side), seed);
    moves_ += RunMoving(
        job_, file_, RandomSchedule(seed), cache, mode, program,
        [&](dgemini::Engine& engine, auto found) { check(engine, std::move(found), what); });
  }

  Job& job_;
  const TestGraph& graph_;
  std::mt19937_64 random_;
  SlimFile file_;
  int moves_ = 0;
};

TEST(Handovers, ChangeNoResult) {
  const GraphWorld& world = TheWorld();
  std::mt19937_64 random(world.seed);
  ExpectNodesRun(
      kNodes,
      [&](Job& job) {
        int moves = 0;
        for (const TestGraph& graph : world.graphs) {
          random.discard(1);
          if (graph.sources.empty()) continue;
          moves += Mover(job, graph, random).RunAll();
        }
        if (job.self() != 0) return;
        EXPECT_GT(moves, 50);
      },
      240);
}

// Node 0 alone decides, and the state of the others must not tell.
TEST(Handovers, GoToTheNodesOfTheSchedule) {
  const GraphWorld& world = TheWorld();
  const TestGraph* largest = &world.graphs[0];
  for (const TestGraph& graph : world.graphs) {
    if (graph.depth.size() > largest->depth.size()) largest = &graph;
  }
  ExpectNodesRun(kNodes, [&](Job& job) {
    const SlimFile file = Unwrap(SlimFile::Open(largest->path));
    const Schedule schedule = [](std::uint64_t step) -> NodeId {
      return step < 2 ? 4 : step < 4 ? 1 : 3;
    };
    NodeId last = 0;
    std::uint64_t steps = 0;
    const int moves = RunMoving(
        job, file, schedule, {}, dgemini::Mode::kAuto,
        [&](auto& engine) { return dgemini::PageRank(engine, {.iterations = 6}); },
        [&](dgemini::Engine& engine, const dgemini::PageRanks& ranks) {
          last = engine.compute();
          steps = engine.counts().steps;
          EXPECT_EQ(ranks.iterations, 6);
        });
    EXPECT_EQ(moves, 2);
    if (job.self() >= 3) return;
    EXPECT_EQ(last, 3);
    EXPECT_EQ(steps, 6);
  });
}

}  // namespace
}  // namespace slimgraph::test
