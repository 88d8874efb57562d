// Generated graphs: their properties, and that they depend only on their options.
#include "slimgraph/files/generate.h"
#include "slimgraph/files/slim_file.h"

#include "slimgraph/files/csr.h"
#include "slimgraph/files/inspect.h"
#include "slimgraph/files/internal/random.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

GenerateOptions Of(GraphKind kind, unsigned scale, const std::string& out) {
  GenerateOptions options;
  options.kind = kind;
  options.scale = scale;
  options.out = out;
  return options;
}

TEST(Generate, DependsOnTheSeedButNotOnTheNumberOfThreads) {
  const ScratchFolder folder;
  for (const GraphKind kind :
       {GraphKind::kKron, GraphKind::kUniform, GraphKind::kSmallWorld, GraphKind::kWeb}) {
    GenerateOptions options = Of(kind, 14, folder / "a.slim");
    options.weights = WeightSpan{1, 255};
    options.threads = 1;
    ASSERT_OK(Generate(options));
    options.threads = 5;
    options.out = folder / "b.slim";
    ASSERT_OK(Generate(options));
    EXPECT_TRUE(ReadFile(folder / "a.slim") == ReadFile(folder / "b.slim"));
    options.seed = 2;
    ASSERT_OK(Generate(options));
    EXPECT_FALSE(ReadFile(folder / "a.slim") == ReadFile(folder / "b.slim"));
  }
}

TEST(Generate, Kron16HasTheSizeOfAGraph500Graph) {
  const ScratchFolder folder;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    GenerateOptions options = Of(GraphKind::kKron, 16, folder / "g.slim");
    options.seed = seed;
    const auto report = Generate(options);
    ASSERT_OK(report);
    EXPECT_EQ(report->vertices, 65536u);
    EXPECT_EQ(report->edges_read, 16u * 65536);
    EXPECT_NEAR(static_cast<double>(report->edges), 909'600, 3000);
    const auto info = Inspect({options.out, true, {}});
    ASSERT_OK(info);
    EXPECT_NEAR(static_cast<double>(info->vertices - info->without_edges), 46'700, 700);
  }
}

TEST(Generate, AWebLinksNearByAndToFewPopularPages) {
  const ScratchFolder folder;
  GenerateOptions options = Of(GraphKind::kWeb, 15, folder / "g.slim");
  options.directed = true;
  ASSERT_OK(Generate(options));
  const PlainGraph graph = ReadPlain(options.out);
  std::size_t near = 0;
  std::map<std::uint64_t, std::size_t> linked;
  for (const auto& [arc, weight] : graph.arcs) {
    const auto [from, to] = arc;
    near += std::max(from, to) - std::min(from, to) <= 64;
    ++linked[to];
  }
  std::size_t most = 0;
  for (const auto& [page, links] : linked) most = std::max(most, links);
  EXPECT_GT(near, graph.arcs.size() / 3);
  EXPECT_LT(near, graph.arcs.size() * 9 / 10);
  EXPECT_GT(most, 50 * graph.arcs.size() / graph.vertices.size());
  for (const unsigned scale : {0u, 1u, 2u, 3u}) {
    EXPECT_OK(Generate(Of(GraphKind::kWeb, scale, folder / "small.slim")));
  }
}

//  0 - 1 - 2
//  |   |   |
//  3 - 4 - 5
TEST(Generate, AGridConnectsEachVertexToItsRightAndBelow) {
  const ScratchFolder folder;
  GenerateOptions options = Of(GraphKind::kGrid, 0, folder / "g.slim");
  options.width = 3;
  options.height = 2;
  options.directed = true;
  ASSERT_OK(Generate(options));
  PlainGraph expected;
  expected.vertices = {0, 1, 2, 3, 4, 5};
  for (auto [u, v] : {std::pair{0, 1}, {1, 2}, {3, 4}, {4, 5}, {0, 3}, {1, 4}, {2, 5}}) {
    expected.arcs[{u, v}] = {0};
  }
  EXPECT_EQ(ReadPlain(options.out), expected);
}

TEST(Generate, ChainStarAndCompleteHaveTheDegreesOfTheirNames) {
  const ScratchFolder folder;
  const auto degrees = [&](GraphKind kind) {
    const GenerateOptions options = Of(kind, 3, folder / "g.slim");
    EXPECT_OK(Generate(options));
    const auto file = SlimFile::Open(options.out);
    const auto csr = ReadCsr(*file);
    std::vector<EdgeOffset> all;
    for (VertexId v = 0; v < csr->vertices(); ++v) all.push_back(csr->degree(v));
    return all;
  };
  EXPECT_EQ(degrees(GraphKind::kChain), (std::vector<EdgeOffset>{1, 2, 2, 2, 2, 2, 2, 1}));
  EXPECT_EQ(degrees(GraphKind::kStar), (std::vector<EdgeOffset>{7, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(degrees(GraphKind::kComplete), (std::vector<EdgeOffset>{7, 7, 7, 7, 7, 7, 7, 7}));
}

TEST(Generate, TheSmallestScalesWork) {
  const ScratchFolder folder;
  for (const GraphKind kind : {GraphKind::kKron, GraphKind::kUniform, GraphKind::kGrid,
                               GraphKind::kChain, GraphKind::kStar, GraphKind::kComplete}) {
    for (const unsigned scale : {0u, 1u, 2u}) {
      const GenerateOptions options = Of(kind, scale, folder / "g.slim");
      ASSERT_OK(Generate(options));
      EXPECT_OK(Inspect({options.out, true, {}}));
    }
  }
}

TEST(Generate, ImpossibleOptionsAreErrors) {
  GenerateOptions options = Of(GraphKind::kKron, 40, "x.slim");
  EXPECT_EQ(MessageOf(Generate(options)), "scale 40 is too large: at most 31 is supported");
  options.scale = 31;
  options.degree = std::uint64_t{1} << 32;
  EXPECT_FALSE(Generate(options));
  EXPECT_FALSE(ParseWeightSpan("5..1"));
  EXPECT_FALSE(ParseWeightSpan("5"));
  EXPECT_FALSE(ParseWeightSpan("1..2x"));
  ASSERT_OK(ParseWeightSpan("-3..2"));
  EXPECT_EQ(ParseWeightSpan("-3..2")->low, -3);
}

TEST(Shuffle, IsAPermutation) {
  for (unsigned bits = 0; bits <= 12; ++bits) {
    for (const std::uint64_t seed : {0u, 1u, 77u}) {
      const internal::Shuffle shuffle(seed, bits);
      std::vector<bool> seen(std::size_t{1} << bits);
      for (std::size_t x = 0; x < seen.size(); ++x) {
        ASSERT_LT(shuffle(x), seen.size());
        ASSERT_FALSE(seen[shuffle(x)]);
        seen[shuffle(x)] = true;
      }
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
