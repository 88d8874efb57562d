#include "dkudu/local.h"

#include <gtest/gtest.h>

#include "dkudu/serial.h"
#include "tests/dkudu/support.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

// By brute force over a matrix.
std::vector<dkudu::LocalFigures> Expected(const EdgeList& graph) {
  using Matrix = std::vector<std::vector<bool>>;
  Matrix arc(graph.vertices, std::vector<bool>(graph.vertices));
  Matrix adjacent = arc;
  for (const auto& [a, b] : graph.edges) {
    arc[a][b] = adjacent[a][b] = adjacent[b][a] = true;
    if (!graph.directed) arc[b][a] = true;
  }
  std::vector<dkudu::LocalFigures> figures(graph.vertices);
  for (VertexId v = 0; v < graph.vertices; ++v) {
    for (VertexId a = 0; a < graph.vertices; ++a) {
      figures[v].degree += adjacent[v][a] ? 1 : 0;
      for (VertexId b = 0; b < graph.vertices; ++b) {
        if (adjacent[v][a] && adjacent[v][b] && arc[a][b]) ++figures[v].arcs;
      }
    }
  }
  return figures;
}

dkudu::MiningOptions SomeOptions(std::mt19937_64& random) {
  return {.chunk_bytes = SomeChunkBytes(random),
          .cache_bytes = random() % 4096,
          .reuse = static_cast<dkudu::Reuse>(random() % 3),
          .steal = static_cast<dkudu::Steal>(random() % 2),
          .fetch = static_cast<dkudu::Fetch>(random() % 2)};
}

void ExpectFigures(const Shape& shape, const EdgeList& graph, dkudu::ListPart part,
                   const dkudu::MiningOptions& options) {
  const ScratchGraph file(graph);
  const auto expected = Expected(graph);
  EXPECT_EQ(dkudu::serial::Local(Unwrap(BuildCsr(graph)), graph.directed), expected);
  OnMiningJob(shape, file.path(), part, options, [&](dkudu::MiningJob& job) {
    for (int round = 0; round < 2; ++round) {  // the counters of the first are used again
      const auto counts = Unwrap(dkudu::CountLocal(job));
      if (job.cluster.self() != 0) continue;
      VertexId next = 0;
      const auto visit = [&](VertexId v, const dkudu::LocalFigures& figures) -> Status {
        EXPECT_EQ(v, next++);
        EXPECT_EQ(figures, expected[v])
            << NameOf(shape) << ": vertex " << v << " has " << figures.arcs << " arcs at "
            << figures.degree << " neighbours, not " << expected[v].arcs << " at "
            << expected[v].degree;
        return {};
      };
      ASSERT_TRUE(counts.ForEach(OriginalIds(0, graph.vertices), visit));
      EXPECT_EQ(next, graph.vertices);
    }
  });
}

constexpr Shape kLocalShapes[] = {{1, 1, 2},
                                  {4, 4, 1},
                                  {4, 2, 2},
                                  {4, 1, 1},
                                  {3, 2, 1, "tcp"},
                                  {5, 3, 1},
                                  {5, 3, 1, "shm", true}};

TEST(Local, CountsAtEveryVertexOfAnUndirectedGraph) {
  auto random = SeededRandom();
  for (const Shape& shape : kLocalShapes) {
    const EdgeList graph = RandomGraph(random, 30 + static_cast<VertexId>(random() % 40), 0.3);
    // An undirected graph is the same with both parts.
    for (const auto part : {dkudu::ListPart::kAll, dkudu::ListPart::kArcs}) {
      ExpectFigures(shape, graph, part, SomeOptions(random));
    }
  }
}

TEST(Local, CountsArcsAtEveryVertexOfADirectedGraph) {
  auto random = SeededRandom();
  for (const Shape& shape : kLocalShapes) {
    for (const double density : {0.05, 0.3}) {
      const auto vertices = static_cast<VertexId>(2 + random() % 70);
      ExpectFigures(shape, RandomDirectedGraph(random, vertices, density), dkudu::ListPart::kArcs,
                    SomeOptions(random));
    }
  }
}

TEST(Local, ClusteringIsTheShareOfJoinedPairs) {
  EXPECT_EQ((dkudu::LocalFigures{1, 0}.clustering()), 0);
  EXPECT_EQ((dkudu::LocalFigures{4, 6}.clustering()), 0.5);
}

}  // namespace
}  // namespace slimgraph::test
