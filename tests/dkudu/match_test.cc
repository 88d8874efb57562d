#include "dkudu/match.h"
#include "dkudu/serial.h"

#include <gtest/gtest.h>

#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

struct Case {
  dkudu::Pattern pattern;
  dkudu::Induced induced;
  std::uint64_t expected;
};

std::vector<Case> CasesFor(const EdgeList& graph, const std::vector<dkudu::Pattern>& patterns) {
  std::vector<Case> cases;
  for (const dkudu::Pattern& pattern : patterns) {
    for (const dkudu::Induced induced : {dkudu::Induced::kVertex, dkudu::Induced::kEdge}) {
      cases.push_back({pattern, induced, BruteForceCount(graph, pattern, induced)});
    }
  }
  return cases;
}

void ExpectCounts(const Shape& shape, const std::string& path, const dkudu::MiningOptions& options,
                  const std::vector<Case>& cases) {
  OnMiningJob(shape, path, dkudu::ListPart::kAll, options, [&](dkudu::MiningJob& job) {
    for (const Case& one : cases) {
      const dkudu::Plan plan =
          dkudu::CompilePlan(one.pattern, one.induced, dkudu::FiguresOf(job.graph), false);
      const auto count = dkudu::CountMatches(job, plan);
      ASSERT_TRUE(count) << count.error().message;
      EXPECT_EQ(*count, one.expected) << NameOf(shape) << "\n" << dkudu::Explain(plan);
    }
  });
}

std::vector<dkudu::Pattern> NamedPatterns(const std::vector<std::string>& names) {
  std::vector<dkudu::Pattern> patterns;
  for (const std::string& name : names) patterns.push_back(*dkudu::Pattern::Find(name));
  return patterns;
}

std::vector<Shape> AllShapes() {
  std::vector<Shape> shapes;
  for (NodeId nodes = 1; nodes <= 5; ++nodes) {
    for (NodeId compute = 1; compute <= nodes; ++compute) {
      shapes.push_back({nodes, compute, 1 + (nodes + compute) % 2});
    }
  }
  return shapes;
}

TEST(Match, CountsOfRandomPatternsAgreeWithBruteForceOnAllShapes) {
  auto random = SeededRandom();
  std::vector<Shape> shapes = AllShapes();
  for (int i = 0; i < 6; ++i) shapes.push_back(RandomStandingShape(random));
  for (const Shape& shape : shapes) {
    const EdgeList graph = RandomGraph(random, static_cast<VertexId>(8 + random() % 10), 0.35);
    const ScratchGraph file(graph);
    std::vector<dkudu::Pattern> patterns;
    for (unsigned vertices = 2; vertices <= 5; ++vertices) {
      for (int i = 0; i < 3; ++i) patterns.push_back(RandomPattern(random, vertices));
    }
    dkudu::MiningOptions options;
    options.chunk_bytes = SomeChunkBytes(random);
    options.cache_bytes = random() % 256;
    options.reuse = static_cast<dkudu::Reuse>(random() % 3);
    options.steal = static_cast<dkudu::Steal>(random() % 2);
    options.fetch = static_cast<dkudu::Fetch>(random() % 2);
    ExpectCounts(shape, file.path(), options, CasesFor(graph, patterns));
  }
}

TEST(Match, CountsOfLargerPatternsAgreeWithBruteForce) {
  auto random = SeededRandom();
  for (int round = 0; round < 4; ++round) {
    const EdgeList graph = RandomGraph(random, 10, 0.5);
    const ScratchGraph file(graph);
    std::vector<dkudu::Pattern> patterns;
    for (unsigned vertices = 6; vertices <= 7; ++vertices) {
      for (int i = 0; i < 3; ++i) patterns.push_back(RandomPattern(random, vertices));
    }
    ExpectCounts({1, 1, 2}, file.path(), {.chunk_bytes = 0}, CasesFor(graph, patterns));
  }
}

// The matching orders of trees end in many vertices that are not adjacent.
TEST(Match, CountsOfTreesAgreeWithBruteForce) {
  auto random = SeededRandom();
  for (int round = 0; round < 10; ++round) {
    const EdgeList graph = RandomGraph(random, 9, 0.45);
    const ScratchGraph file(graph);
    std::vector<Case> cases;
    for (unsigned vertices = 5; vertices <= 8; ++vertices) {
      std::vector<dkudu::Pattern::Edge> edges;
      const std::uint64_t spread = 1 + random() % vertices;  // from stars to any tree
      for (unsigned v = 1; v < vertices; ++v)
        edges.emplace_back(random() % std::min<std::uint64_t>(v, spread), v);
      if (random() % 2 == 0) edges.emplace_back(0, vertices - 1);
      const dkudu::Pattern pattern = *dkudu::Pattern::Make(edges, "tree");
      cases.push_back(
          {pattern, dkudu::Induced::kEdge, BruteForceCount(graph, pattern, dkudu::Induced::kEdge)});
    }
    ExpectCounts({1, 1, 1}, file.path(), {}, cases);
  }
}

// What --verify compares with.
TEST(Match, SerialCodeCountsAsBruteForceDoes) {
  auto random = SeededRandom();
  for (int round = 0; round < 40; ++round) {
    const auto draw = [&](unsigned from, unsigned count) {
      return from + static_cast<unsigned>(random() % count);
    };
    const EdgeList graph = RandomGraph(random, draw(2, 9), 0.1 * draw(2, 6));
    const ScratchGraph file(graph);
    const Csr lists = Unwrap(ReadCsr(Unwrap(SlimFile::Open(file.path()))));
    std::vector<dkudu::Pattern> patterns = {RandomPattern(random, draw(2, 6))};
    patterns.push_back(Unwrap(dkudu::Pattern::Clique(draw(2, 5))));
    for (const Case& one : CasesFor(graph, patterns)) {
      EXPECT_EQ(dkudu::serial::CountMatches(lists, one.pattern, one.induced), one.expected)
          << one.pattern.name() << " of " << one.pattern.size() << " vertices, induced "
          << static_cast<int>(one.induced);
    }
  }
}

TEST(Match, ListsAreRequestedOrReadOverAnyTransport) {
  auto random = SeededRandom();
  const EdgeList graph = RandomGraph(random, 40, 0.2);
  const ScratchGraph file(graph);
  const auto cases = CasesFor(graph, NamedPatterns({"tailed-triangle", "house", "4-cycle"}));
  for (const char* const transport : {"shm", "tcp"}) {
    for (const dkudu::Fetch fetch : {dkudu::Fetch::kRequest, dkudu::Fetch::kRead}) {
      for (const dkudu::Reuse reuse : {dkudu::Reuse::kNone, dkudu::Reuse::kGlobal}) {
        dkudu::MiningOptions options{.chunk_bytes = 0, .cache_bytes = 300, .reuse = reuse};
        options.fetch = fetch;
        ExpectCounts({4, 3, 4, transport}, file.path(), options, cases);
      }
    }
  }
}

TEST(Match, FetchesAListLongerThanAnAnswer) {
  // A wheel without its rim's last edge. Its hub has more neighbours than one answer holds.
  EdgeList graph = EmptyGraph(2 * dkudu::ListFetch::kMostSlotBytes / sizeof(VertexId));
  for (VertexId v = 1; v < graph.vertices; ++v) graph.edges.push_back({0, v});
  for (VertexId v = 2; v < graph.vertices; ++v) graph.edges.push_back({v - 1, v});
  const ScratchGraph file(graph);
  const std::vector<Case> cases = {
      {*dkudu::Pattern::Find("triangle"), dkudu::Induced::kEdge, graph.vertices - 2},
      {*dkudu::Pattern::Find("diamond"), dkudu::Induced::kEdge, graph.vertices - 3}};
  for (const Shape& shape : {Shape{3, 3, 1}, Shape{3, 2, 2}}) {
    ExpectCounts(shape, file.path(), {.chunk_bytes = 0, .cache_bytes = 0}, cases);
  }
}

TEST(Match, CountsOfNamedPatternsAgreeWithBruteForce) {
  auto random = SeededRandom();
  const EdgeList graph = RandomGraph(random, 14, 0.3);
  const ScratchGraph file(graph);
  const auto cases =
      CasesFor(graph, NamedPatterns({"edge", "wedge", "triangle", "tailed-triangle", "diamond",
                                     "house", "bull", "butterfly", "4-path", "5-path", "4-cycle",
                                     "5-cycle", "3-star", "4-star", "4-clique", "5-clique"}));
  ExpectCounts({1, 1, 1}, file.path(), {}, cases);
  ExpectCounts({3, 2, 2}, file.path(), {}, cases);
}

TEST(Match, GraphsWithoutEdgesOrWithFewerVerticesThanNodesHaveNoEmbeddings) {
  const auto patterns = NamedPatterns({"edge", "wedge", "4-cycle"});
  for (const VertexId vertices : {1, 2, 7}) {
    const EdgeList graph = EmptyGraph(vertices);
    const ScratchGraph file(graph);
    ExpectCounts({5, 2, 1}, file.path(), {}, CasesFor(graph, patterns));
  }
}

TEST(Match, ListsEveryEmbeddingOnce) {
  auto random = SeededRandom();
  const EdgeList graph = RandomGraph(random, 14, 0.4);
  const ScratchGraph file(graph);
  for (const char* const name : {"diamond", "4-path", "house", "3-star"}) {
    const dkudu::Pattern pattern = *dkudu::Pattern::Find(name);
    const std::uint64_t expected = BruteForceCount(graph, pattern, dkudu::Induced::kEdge);
    OnMiningJob(
        {1, 1, 1}, file.path(), dkudu::ListPart::kAll, {.chunk_bytes = 0},
        [&](dkudu::MiningJob& job) {
          const dkudu::Plan plan =
              dkudu::CompilePlan(pattern, dkudu::Induced::kEdge, dkudu::FiguresOf(job.graph), true);
          std::vector<std::vector<VertexId>> embeddings;
          const auto sink = [&](std::span<const VertexId> embedding) -> Result<bool> {
            for (unsigned u = 0; u < pattern.size(); ++u) {
              for (unsigned v = 0; v < u; ++v) {
                const bool joined = dkudu::Contains(job.graph.own(embedding[u]), embedding[v]);
                EXPECT_TRUE(joined || !pattern.adjacent(u, v)) << dkudu::Explain(plan);
              }
            }
            embeddings.emplace_back(embedding.begin(), embedding.end());
            return true;
          };
          const auto listed = dkudu::ListMatches(job, plan, [&](std::uint32_t) { return sink; });
          ASSERT_TRUE(listed);
          EXPECT_EQ(*listed, expected);
          std::sort(embeddings.begin(), embeddings.end());
          embeddings.erase(std::unique(embeddings.begin(), embeddings.end()), embeddings.end());
          EXPECT_EQ(embeddings.size(), expected) << dkudu::Explain(plan);
        });
  }
}

TEST(Match, ACountBeyond64BitsIsAnError) {
  // 7-stars in a star of 2^12 leaves: about 4096^7 / 7!, which is 2^72.
  EdgeList graph = EmptyGraph(4097);
  for (VertexId v = 1; v < graph.vertices; ++v) graph.edges.push_back({0, v});
  const ScratchGraph file(graph);
  OnMiningJob({2, 1, 1}, file.path(), dkudu::ListPart::kAll, {}, [](dkudu::MiningJob& job) {
    const auto count = dkudu::CountMatches(
        job, dkudu::CompilePlan(*dkudu::Pattern::Find("7-star"), dkudu::Induced::kEdge,
                                dkudu::FiguresOf(job.graph), false));
    ASSERT_FALSE(count);
    EXPECT_EQ(count.error().message, "the number of embeddings does not fit into 64 bits");
  });
}

}  // namespace
}  // namespace slimgraph::test
