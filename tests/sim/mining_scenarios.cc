// The scenarios of pattern mining: the matches of a random pattern in a random graph, counted with
// stealing, small chunks and small caches, compared with a count by brute force; and clustering in
// a directed graph, compared with the serial result.
#include "dkudu/match.h"
#include "dkudu/serial.h"
#include "tests/dkudu/support.h"
#include "tests/sim/scenario.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

struct MiningSetting {
  MiningSetting(World& world, NodeId more_nodes) : random(world.Draw(~std::uint64_t{0})) {
    shape.nodes = world.DrawNodes(static_cast<NodeId>(1 + more_nodes), 5);
    shape.compute = static_cast<NodeId>(1 + random() % shape.nodes);
    shape.threads = 1 + random() % 2;
    shape.transport = DrawTransport(world, shape.nodes);
    graph = RandomGraph(random, static_cast<VertexId>(4 + random() % 12), 0.4);
    path = ScenarioFolder() + "/mining.slim";
    Unwrap(WriteSlimFile(graph, path));
    options.chunk_bytes = SomeChunkBytes(random);
    options.cache_bytes = random() % 256;
    options.reuse = static_cast<dkudu::Reuse>(random() % 3);
    options.steal = static_cast<dkudu::Steal>(random() % 2);
    options.fetch = static_cast<dkudu::Fetch>(random() % 2);
    directed = RandomDirectedGraph(random, static_cast<VertexId>(4 + random() % 40), 0.4);
    directed_path = ScenarioFolder() + "/directed.slim";
    Unwrap(WriteSlimFile(directed, directed_path));
    figures = dkudu::serial::Local(Unwrap(BuildCsr(directed)), true);
    for (unsigned vertices = 2; vertices <= 4; ++vertices) {
      patterns.push_back(RandomPattern(random, vertices));
      induced.push_back(random() % 2 == 0 ? dkudu::Induced::kVertex : dkudu::Induced::kEdge);
      expected.push_back(BruteForceCount(graph, patterns.back(), induced.back()));
    }
  }

  std::mt19937_64 random;
  Shape shape;
  EdgeList graph;
  std::string path;
  EdgeList directed;
  std::string directed_path;
  std::vector<dkudu::LocalFigures> figures;  // of the directed graph
  dkudu::MiningOptions options;
  std::vector<dkudu::Pattern> patterns;
  std::vector<dkudu::Induced> induced;
  std::vector<std::uint64_t> expected;
};

std::function<std::string()> PrepareMining(World& world, const World::Faults& faults,
                                           NodeId more_nodes = 0) {
  const auto setting = std::make_shared<MiningSetting>(world, more_nodes);
  const Shape& shape = setting->shape;
  return OnAllNodes(world, shape.nodes, faults, [&world, &shape, setting](Job& job) {
    if (job.self() == 0) world.Note(NameOf(shape));
    const auto cluster = Unwrap(Cluster::Start(job, {.compute = shape.compute,
                                                     .threads = shape.threads,
                                                     .transport = shape.transport,
                                                     .serving_threads = 1}));
    const auto count_all = [&](dkudu::MiningJob& mining) {
      for (std::size_t i = 0; i < setting->patterns.size(); ++i) {
        const dkudu::Plan plan = dkudu::CompilePlan(setting->patterns[i], setting->induced[i],
                                                    dkudu::FiguresOf(mining.graph), false);
        const std::uint64_t count = Unwrap(dkudu::CountMatches(mining, plan));
        world.Check(count == setting->expected[i], "{} matches, not {}", count,
                    setting->expected[i]);
      }
    };
    MineOn(*cluster, setting->path, dkudu::ListPart::kAll, setting->options, count_all);
    const auto count_corners = [&](dkudu::MiningJob& mining) {
      const auto counts = Unwrap(dkudu::CountLocal(mining));
      if (cluster->self() != 0) return;
      const auto visit = [&](VertexId v, const dkudu::LocalFigures& found) -> Status {
        world.Check(found == setting->figures[v], "vertex {} has {} arcs at {} neighbours", v,
                    found.arcs, found.degree);
        return {};
      };
      Unwrap(counts.ForEach(OriginalIds(0, setting->directed.vertices), visit));
    };
    MineOn(*cluster, setting->directed_path, dkudu::ListPart::kArcs, setting->options,
           count_corners);
    Unwrap(cluster->Stop());
  });
}

}  // namespace

std::vector<Scenario> MiningScenarios() {
  return {
      {"mining", "the matches of a pattern are counted as brute force counts them",
       [](World& world) { return PrepareMining(world, {}); }},
      {"mining-faults", "the same; nodes die or stop, links are cut, and then all nodes end",
       [](World& world) { return PrepareMining(world, {.most = 2, .within_ns = 200 * kMs}); }},
      {"mining-crowd", "the same as mining on more nodes than a word has bits",
       [](World& world) { return PrepareMining(world, {}, kCrowd); }, kOneSeedOfCrowds},
  };
}

}  // namespace slimgraph::test
