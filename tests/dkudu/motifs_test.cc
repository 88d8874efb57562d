#include "dkudu/motifs.h"

#include <gtest/gtest.h>

#include "dkudu/formula.h"
#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

void ExpectMotifs(const Shape& shape, const EdgeList& graph, const dkudu::MiningOptions& options) {
  const ScratchGraph file(graph);
  for (const unsigned vertices : {3U, 4U}) {
    const dkudu::ListPart part = vertices == 3 ? dkudu::ListPart::kUpper : dkudu::ListPart::kAll;
    OnMiningJob(shape, file.path(), part, options, [&](dkudu::MiningJob& job) {
      for (const dkudu::Induced induced : {dkudu::Induced::kVertex, dkudu::Induced::kEdge}) {
        const auto motifs = dkudu::CountMotifs(job, vertices, induced);
        ASSERT_TRUE(motifs) << motifs.error().message;
        EXPECT_EQ(motifs->size(), vertices == 3 ? 2U : 6U);
        for (const dkudu::MotifCount& motif : *motifs) {
          EXPECT_EQ(motif.count, BruteForceCount(graph, *dkudu::Pattern::Find(motif.name), induced))
              << motif.name << " on " << NameOf(shape);
        }
      }
    });
  }
}

TEST(Motifs, CountsAgreeWithBruteForceOnAllShapes) {
  auto random = SeededRandom();
  for (NodeId nodes = 1; nodes <= 5; ++nodes) {
    for (NodeId compute = 1; compute <= nodes; ++compute) {
      const auto vertices = static_cast<VertexId>(8 + random() % 12);
      ExpectMotifs({nodes, compute, 1 + (nodes + compute) % 2}, RandomGraph(random, vertices, 0.4),
                   {.chunk_bytes = SomeChunkBytes(random), .cache_bytes = random() % 400});
    }
  }
  for (int i = 0; i < 4; ++i) {
    ExpectMotifs(RandomStandingShape(random), RandomGraph(random, 12, 0.4),
                 {.chunk_bytes = SomeChunkBytes(random), .cache_bytes = random() % 400});
  }
}

TEST(Motifs, TheSmallestGraphsHaveNone) {
  ExpectMotifs({3, 2, 1}, EmptyGraph(1), {});
  ExpectMotifs({3, 2, 1}, CompleteGraph(2), {});
  ExpectMotifs({4, 1, 1, "shm", true}, EmptyGraph(1), {});
  ExpectMotifs({4, 2, 1, "tcp", true}, CompleteGraph(2), {});
}

TEST(Formula, CountsAgreeWithBruteForce) {
  auto random = SeededRandom();
  const EdgeList graph = RandomGraph(random, 14, 0.4);
  const ScratchGraph file(graph);
  unsigned known = 0;
  for (const char* const name : {"wedge", "triangle", "4-cycle", "4-path", "3-star", "diamond",
                                 "tailed-triangle", "4-clique", "5-clique", "5-cycle", "house"}) {
    for (const dkudu::Induced induced : {dkudu::Induced::kVertex, dkudu::Induced::kEdge}) {
      const dkudu::Pattern pattern = *dkudu::Pattern::Find(name);
      const auto formula = dkudu::FormulaFor(pattern, induced);
      if (!formula) continue;
      ++known;
      const std::uint64_t expected = BruteForceCount(graph, pattern, induced);
      OnMiningJob({2, 1, 1}, file.path(), formula->part(), {}, [&](dkudu::MiningJob& job) {
        EXPECT_EQ(*dkudu::CountByFormula(job, *formula), expected) << name;
      });
    }
  }
  EXPECT_EQ(known, 17U);
}

TEST(Formula, CountsHousesForAllShapesAndBudgets) {
  auto random = SeededRandom();
  const dkudu::Pattern pattern =
      *dkudu::Pattern::Make({{7, 8}, {8, 9}, {9, 5}, {5, 7}, {7, 6}, {8, 6}}, "mine");
  for (NodeId nodes = 1; nodes <= 5; ++nodes) {
    for (NodeId compute = 1; compute <= nodes; ++compute) {
      const EdgeList graph = RandomGraph(random, static_cast<VertexId>(8 + random() % 12), 0.4);
      const ScratchGraph file(graph);
      const std::uint64_t expected = BruteForceCount(graph, pattern, dkudu::Induced::kEdge);
      const dkudu::MiningOptions options{.chunk_bytes = SomeChunkBytes(random),
                                         .cache_bytes = random() % 400};
      OnMiningJob({nodes, compute, 2}, file.path(), dkudu::ListPart::kAll, options,
                  [&](dkudu::MiningJob& job) {
                    const auto formula = dkudu::FormulaFor(pattern, dkudu::Induced::kEdge);
                    ASSERT_TRUE(formula && formula->house);
                    EXPECT_EQ(*dkudu::CountByFormula(job, *formula), expected);
                  });
    }
  }
}

TEST(Formula, APatternWithTheDegreesOfAHouseIsNoHouse) {
  const dkudu::Pattern pattern =
      *dkudu::Pattern::Make({{0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}}, "k23");
  EXPECT_FALSE(dkudu::FormulaFor(pattern, dkudu::Induced::kEdge));
}

}  // namespace
}  // namespace slimgraph::test
