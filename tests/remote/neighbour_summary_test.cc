#include "slimgraph/remote/neighbour_summary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "slimgraph/files/csr.h"
#include "slimgraph/files/generate.h"
#include "slimgraph/remote/standing_graph.h"
#include "tests/support/graphs.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

using Word = NeighbourSummary::Word;

// Parts that begin at multiples of `step`; some may be empty.
std::vector<VertexPart> RandomParts(std::mt19937_64& random, VertexId vertices, VertexId step) {
  const std::size_t parts = 1 + random() % NeighbourSummary::kMostSegments;
  std::vector<VertexId> begins = {0};
  for (std::size_t i = 1; i < parts; ++i) {
    begins.push_back(static_cast<VertexId>(random() % (vertices + 1)) / step * step);
  }
  std::ranges::sort(begins);
  begins.push_back(vertices);
  std::vector<VertexPart> made;
  for (std::size_t i = 0; i < parts; ++i) {
    made.push_back({.first = begins[i], .stride = 1, .count = begins[i + 1] - begins[i]});
  }
  return made;
}

TEST(NeighbourSummary, TellsTheSegmentsOfAList) {
  auto random = SeededRandom();
  for (int round = 0; round < 300; ++round) {
    const VertexId step = random() % 2 == 0 ? 8 : 64;
    const auto vertices = static_cast<VertexId>(1 + random() % 5000);
    const std::vector<VertexPart> parts = RandomParts(random, vertices, step);
    const NeighbourSummary summary(parts, step);
    ASSERT_EQ(summary.segments(), parts.size() * summary.per_part());
    EXPECT_GT(summary.segments(), NeighbourSummary::kMostSegments / 2);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::size_t first = p * summary.per_part();
      const std::size_t last = first + summary.per_part() - 1;
      EXPECT_EQ(summary.begin(first), parts[p].first);
      EXPECT_EQ(summary.end(last), parts[p].first + parts[p].count);
      for (std::size_t s = first; s <= last; ++s) {
        EXPECT_LE(summary.begin(s), summary.end(s));
        EXPECT_TRUE(summary.begin(s) % step == 0 || summary.begin(s) == vertices);
      }
    }
    const auto below = 1 + random() % vertices;  // so that some segments have no neighbour
    std::vector<VertexId> list(random() % 3 == 0 ? random() % 2000 : random() % 40);
    for (VertexId& v : list) v = static_cast<VertexId>(random() % below);
    std::ranges::sort(list);
    Word expected = 0;
    for (const VertexId v : list) {
      for (std::size_t s = 0; s < summary.segments(); ++s) {
        if (summary.begin(s) <= v && v < summary.end(s)) expected |= Word{1} << s;
      }
    }
    EXPECT_EQ(summary.Of(list), expected) << list.size() << " of " << vertices;
  }
}

TEST(NeighbourSummary, HasNoSegmentsForTooManyParts) {
  const std::vector<VertexPart> parts(NeighbourSummary::kMostSegments + 1);
  EXPECT_EQ(NeighbourSummary(parts, 8).segments(), 0U);
}

// The words of a graph that stands in a pool, by vertex; and how it is summarised.
std::vector<Word> WordsOf(const std::string& path, NodeId parts, std::string_view view,
                          const std::function<void(const NeighbourSummary&)>& summarised) {
  std::vector<Word> words;
  for (NodeId part = 0; part < parts; ++part) {
    StandingPart made = Unwrap(LoadStandingPart(path, path, part, parts, 1 + part % 2, view));
    const auto graph = Unwrap(StandingGraph::Open(made.facts, std::move(made.memories)));
    const auto own = graph->summary_words();
    if (part == 0) summarised(graph->summary());
    if (!own.empty()) {
      EXPECT_GE(own.size(), graph->part(part).count);
    }
    words.insert(words.end(), own.begin(),
                 own.begin() + (own.empty() ? 0 : graph->part(part).count));
  }
  return words;
}

TEST(NeighbourSummary, StandsInAPool) {
  auto random = SeededRandom();
  const ScratchFolder folder;
  for (const bool directed : {false, true}) {
    EdgeList edges;
    edges.vertices = 700;
    edges.directed = directed;
    for (int i = 0; i < 3000; ++i) {
      const auto u = static_cast<VertexId>(random() % 700);
      edges.edges.push_back(
          {u, static_cast<VertexId>(random() % 3 == 0 ? random() % 7 : random() % 700)});
    }
    const std::string path = folder / (directed ? "directed.slim" : "undirected.slim");
    Unwrap(WriteSlimFile(edges, path));
    const Csr out = Unwrap(BuildCsr(edges));
    edges.directed = false;
    const Csr both = Unwrap(BuildCsr(edges));
    for (const NodeId parts : {1U, 3U, 8U, 32U, 33U}) {
      for (const std::string_view view : {std::string_view(), kBothView}) {
        if (!directed && view == kBothView) continue;
        NeighbourSummary summary({{VertexPart{}}}, 8);
        const auto words = WordsOf(path, parts, view, [&](const auto& its) { summary = its; });
        const Csr& lists = view.empty() ? out : both;
        if (parts > NeighbourSummary::kMostSegments) {
          EXPECT_TRUE(words.empty());
          continue;
        }
        ASSERT_EQ(words.size(), edges.vertices) << parts;
        for (VertexId v = 0; v < edges.vertices; ++v) {
          ASSERT_EQ(words[v], summary.Of(lists.list(v))) << parts << " parts, vertex " << v;
        }
      }
    }
  }
}

TEST(NeighbourSummary, LeavesOutGraphsWithoutIncomingLists) {
  const ScratchFolder folder;
  GenerateOptions options;
  options.out = folder / "g.slim";
  options.scale = 8;
  options.directed = true;
  options.reverse_lists = false;
  Unwrap(Generate(options));
  EXPECT_TRUE(WordsOf(options.out, 2, "", [](const auto&) {}).empty());
}

}  // namespace
}  // namespace slimgraph::test
