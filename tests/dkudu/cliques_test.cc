#include "dkudu/cliques.h"

#include <gtest/gtest.h>

#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

// Compares with the brute-force counter.
void ExpectCliques(const Shape& shape, const EdgeList& graph, const dkudu::MiningOptions& options) {
  const ScratchGraph file(graph);
  std::vector<std::uint64_t> expected;
  for (unsigned size = 3; size <= 6; ++size) {
    expected.push_back(
        BruteForceCount(graph, *dkudu::Pattern::Clique(size), dkudu::Induced::kEdge));
  }
  OnMiningJob(shape, file.path(), dkudu::ListPart::kUpper, options, [&](dkudu::MiningJob& job) {
    for (unsigned size = 3; size <= 6; ++size) {
      const auto count = dkudu::CountCliques(job, size);
      ASSERT_TRUE(count) << count.error().message;
      EXPECT_EQ(*count, expected[size - 3]) << NameOf(shape) << ", " << size << "-cliques";
    }
  });
}

TEST(Cliques, CountsAgreeWithBruteForceForAllShapesAndBudgets) {
  auto random = SeededRandom();
  for (NodeId nodes = 1; nodes <= 5; ++nodes) {
    for (NodeId compute = 1; compute <= nodes; ++compute) {
      for (const std::uint64_t cache_bytes : {0, 40'000, 64 << 20}) {
        const auto vertices = static_cast<VertexId>(10 + random() % 20);
        ExpectCliques({nodes, compute, 1 + (nodes + compute) % 2},
                      RandomGraph(random, vertices, 0.4),
                      {.chunk_bytes = SomeChunkBytes(random),
                       .cache_bytes = cache_bytes,
                       .steal = static_cast<dkudu::Steal>(random() % 2),
                       .fetch = static_cast<dkudu::Fetch>(random() % 2)});
      }
    }
  }
}

TEST(Cliques, AGraphOfManyWindowsIsCountedRight) {
  // The lists exceed a window of the smallest size, so each root is joined in several steps.
  const EdgeList graph = CompleteGraph(300);
  const ScratchGraph file(graph);
  for (const Shape& shape : {Shape{1, 1, 2}, Shape{4, 4, 1}, Shape{4, 2, 2}, Shape{4, 1, 1},
                             Shape{5, 2, 1, "tcp", true}, Shape{4, 1, 1, "shm", true}}) {
    for (const std::uint64_t bytes : {0, 100'000, 64 << 20}) {
      const dkudu::MiningOptions options{.chunk_bytes = 0, .cache_bytes = bytes};
      OnMiningJob(shape, file.path(), dkudu::ListPart::kUpper, options, [&](dkudu::MiningJob& job) {
        EXPECT_EQ(*dkudu::CountCliques(job, 3), dkudu::Choose(300, 3)) << NameOf(shape);
        EXPECT_EQ(*dkudu::CountCliques(job, 4), dkudu::Choose(300, 4)) << NameOf(shape);
        // This takes as long as all others together.
        if (shape.threads == 1 || bytes != 100'000) return;
        EXPECT_EQ(*dkudu::CountCliques(job, 5), dkudu::Choose(300, 5)) << NameOf(shape);
      });
    }
  }
}

TEST(Cliques, LocalListsAreSplitIntoWindowsToo) {
  const EdgeList graph = CompleteGraph(1600);  // 5 MiB of lists
  const ScratchGraph file(graph);
  for (const Shape& shape : {Shape{1, 1, 2}, Shape{4, 1, 1}}) {
    const dkudu::MiningOptions options{.chunk_bytes = 0, .cache_bytes = 64 << 20};
    OnMiningJob(shape, file.path(), dkudu::ListPart::kUpper, options, [&](dkudu::MiningJob& job) {
      EXPECT_EQ(*dkudu::CountCliques(job, 3), dkudu::Choose(1600, 3)) << NameOf(shape);
    });
  }
}

TEST(Cliques, FewPassesSufficeWithoutMemoryForRoots) {
  auto random = SeededRandom();
  EdgeList graph = EmptyGraph(20'000);
  for (VertexId v = 1; v < graph.vertices; ++v) {
    for (int i = 0; i < 4; ++i) graph.edges.push_back({v, static_cast<VertexId>(random() % v)});
  }
  const ScratchGraph file(graph);
  OnMiningJob({4, 1, 1}, file.path(), dkudu::ListPart::kUpper, {.cache_bytes = 0},
              [&](dkudu::MiningJob& job) {
                const auto count = dkudu::CountCliques(job, 4);
                ASSERT_TRUE(count) << count.error().message;
                const TrafficCount all = job.cluster.fabric().traffic().Total();
                EXPECT_LT(all.round_trips, graph.vertices / 2);
              });
}

// Every list crosses to each compute node once, in less than 1.7 bytes for each neighbour.
TEST(Cliques, ListsCrossCoded) {
  auto random = SeededRandom();
  EdgeList edges = EmptyGraph(20'000);
  for (VertexId v = 0; v < edges.vertices; ++v) {
    for (int i = 0; i < 16; ++i) {
      edges.edges.push_back({v, static_cast<VertexId>(random() % edges.vertices)});
    }
  }
  const ScratchGraph file(edges);
  for (const Shape& shape : {Shape{4, 4}, Shape{4, 2}, Shape{4, 1}, Shape{3, 2, 1, "tcp"},
                             Shape{4, 1, 2, "shm", true, /*in_place=*/false}}) {
    for (const dkudu::Fetch fetch : {dkudu::Fetch::kRequest, dkudu::Fetch::kRead}) {
      const dkudu::MiningOptions options{.steal = dkudu::Steal::kOff, .fetch = fetch};
      OnMiningJob(shape, file.path(), dkudu::ListPart::kUpper, options, [&](dkudu::MiningJob& job) {
        job.cluster.fabric().ClearTraffic();
        ASSERT_TRUE(dkudu::CountCliques(job, 3));
        ASSERT_TRUE(job.cluster.all().Barrier());
        struct Sums {
          std::uint64_t bytes;
          std::uint64_t arcs;
        };
        Sums sums{job.cluster.fabric().traffic().Total().bytes(),
                  job.cluster.computes() ? job.graph.remote_arcs() : 0};
        const auto add = [](const Sums& a, const Sums& b) {
          return Sums{a.bytes + b.bytes, a.arcs + b.arcs};
        };
        ASSERT_TRUE(job.cluster.all().AllReduce(std::span(&sums, 1), add));
        EXPECT_LT(static_cast<double>(sums.bytes), 1.7 * static_cast<double>(sums.arcs))
            << NameOf(shape);
        EXPECT_GT(sums.bytes, sums.arcs) << NameOf(shape);
      });
    }
  }
}

TEST(Cliques, ListsInPlaceDoNotCross) {
  const ScratchGraph file(CompleteGraph(200));
  for (const Shape& shape : {Shape{4, 1, 2, "shm", true}, Shape{4, 2, 1, "shm", true}}) {
    for (const std::uint32_t k : {3U, 4U}) {
      const dkudu::MiningOptions options{.steal = dkudu::Steal::kOff};
      OnMiningJob(shape, file.path(), dkudu::ListPart::kUpper, options, [&](dkudu::MiningJob& job) {
        job.cluster.fabric().ClearTraffic();
        EXPECT_EQ(*dkudu::CountCliques(job, k), dkudu::Choose(200, k)) << NameOf(shape);
        EXPECT_LT(job.cluster.fabric().traffic().Total().bytes(), job.graph.arcs() / 10);
      });
    }
  }
}

TEST(Cliques, AGraphWithoutEdgesHasNone) {
  ExpectCliques({3, 2, 1}, EmptyGraph(5), {});
  ExpectCliques({3, 2, 1}, EmptyGraph(1), {});
}

}  // namespace
}  // namespace slimgraph::test
