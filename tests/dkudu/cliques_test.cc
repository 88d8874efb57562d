#include "dkudu/cliques.h"

#include <gtest/gtest.h>

#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

// Binomial coefficients and the brute-force counter say what is right.
void ExpectCliques(const Shape& shape, const EdgeList& graph, const MiningOptions& options) {
  const ScratchGraph file(graph);
  std::vector<std::uint64_t> expected;
  for (unsigned size = 3; size <= 6; ++size) {
    expected.push_back(BruteForceCount(graph, *Pattern::Clique(size), Induced::kEdge));
  }
  OnMiningJob(shape, file.path(), ListPart::kUp, options, [&](MiningJob& job) {
    for (unsigned size = 3; size <= 6; ++size) {
      const auto count = CountCliques(job, size);
      ASSERT_TRUE(count) << count.error().message;
      EXPECT_EQ(*count, expected[size - 3]) << NameOf(shape) << ", " << size << "-cliques";
    }
  });
}

TEST(Cliques, CountsAgreeWithBruteForceOnAllShapesWhateverTheMemory) {
  auto random = SeededRandom();
  for (NodeId nodes = 1; nodes <= 5; ++nodes) {
    for (NodeId compute = 1; compute <= nodes; ++compute) {
      for (const std::uint64_t cache_bytes : {0, 40'000, 64 << 20}) {
        const auto vertices = static_cast<VertexId>(10 + random() % 20);
        ExpectCliques({nodes, compute, 1 + (nodes + compute) % 2},
                      RandomGraph(random, vertices, 0.4),
                      {.chunk_bytes = SomeChunkBytes(random),
                       .cache_bytes = cache_bytes,
                       .steal = static_cast<Steal>(random() % 2),
                       .fetch = static_cast<Fetch>(random() % 2)});
      }
    }
  }
}

TEST(Cliques, AGraphOfManyWindowsIsCountedRight) {
  // More than a window of the smallest size holds, so that roots are seen to in several steps.
  const EdgeList graph = CompleteGraph(300);
  const ScratchGraph file(graph);
  for (const Shape& shape : {Shape{1, 1, 2}, Shape{4, 4, 1}, Shape{4, 2, 2}, Shape{4, 1, 1}}) {
    for (const std::uint64_t bytes : {0, 100'000, 64 << 20}) {
      const MiningOptions options{.chunk_bytes = 0, .cache_bytes = bytes};
      OnMiningJob(shape, file.path(), ListPart::kUp, options, [&](MiningJob& job) {
        EXPECT_EQ(*CountCliques(job, 3), Choose(300, 3)) << NameOf(shape);
        EXPECT_EQ(*CountCliques(job, 4), Choose(300, 4)) << NameOf(shape);
        EXPECT_EQ(*CountCliques(job, 5), Choose(300, 5)) << NameOf(shape);
      });
    }
  }
}

TEST(Cliques, ListsThatNobodyHasToReadComeInWindowsToo) {
  const EdgeList graph = CompleteGraph(1600);  // 5 MiB of lists
  const ScratchGraph file(graph);
  for (const Shape& shape : {Shape{1, 1, 2}, Shape{4, 1, 1}}) {
    const MiningOptions options{.chunk_bytes = 0, .cache_bytes = 64 << 20};
    OnMiningJob(shape, file.path(), ListPart::kUp, options, [&](MiningJob& job) {
      EXPECT_EQ(*CountCliques(job, 3), Choose(1600, 3)) << NameOf(shape);
    });
  }
}

TEST(Cliques, OfAGraphWithoutThemAreNone) {
  ExpectCliques({3, 2, 1}, EmptyGraph(5), {});
  ExpectCliques({3, 2, 1}, EmptyGraph(1), {});
}

}  // namespace
}  // namespace slimgraph::test
