#include "dkudu/local.h"

#include <gtest/gtest.h>

#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

std::vector<dkudu::LocalFigures> Expected(const EdgeList& graph) {
  std::vector<std::vector<bool>> adjacent(graph.vertices, std::vector<bool>(graph.vertices));
  for (const auto& [a, b] : graph.edges) adjacent[a][b] = adjacent[b][a] = true;
  std::vector<dkudu::LocalFigures> figures(graph.vertices);
  for (VertexId v = 0; v < graph.vertices; ++v) {
    for (VertexId a = 0; a < graph.vertices; ++a) {
      figures[v].degree += adjacent[v][a] ? 1 : 0;
      for (VertexId b = 0; b < a; ++b) {
        if (adjacent[v][a] && adjacent[v][b] && adjacent[a][b]) ++figures[v].triangles;
      }
    }
  }
  return figures;
}

TEST(Local, VisitsEveryVertexOnceInOrderOfIds) {
  auto random = SeededRandom();
  for (const Shape& shape : {Shape{1, 1, 2}, Shape{4, 4, 1}, Shape{4, 2, 2}, Shape{4, 1, 1}}) {
    const EdgeList graph = RandomGraph(random, 30, 0.3);
    const ScratchGraph file(graph);
    const auto expected = Expected(graph);
    OnMiningJob(
        shape, file.path(), dkudu::ListPart::kAll, {.chunk_bytes = 0}, [&](dkudu::MiningJob& job) {
          VertexId next = 0;
          const auto visit = [&](VertexId dense, const dkudu::LocalFigures& figures) -> Status {
            EXPECT_EQ(dense, next++);
            EXPECT_EQ(figures.degree, expected[dense].degree) << NameOf(shape);
            EXPECT_EQ(figures.triangles, expected[dense].triangles) << NameOf(shape);
            return {};
          };
          ASSERT_TRUE(dkudu::ForEachLocal(job, OriginalIds(0, graph.vertices), visit));
          EXPECT_EQ(next, job.cluster.self() == 0 ? graph.vertices : 0);
        });
  }
}

TEST(Local, ClusteringIsTheShareOfAdjacentPairs) {
  EXPECT_EQ((dkudu::LocalFigures{1, 0}.clustering()), 0);
  EXPECT_EQ((dkudu::LocalFigures{4, 3}.clustering()), 0.5);
}

}  // namespace
}  // namespace slimgraph::test
