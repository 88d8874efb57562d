// What the text formats accept and reject, and that every error names the line.
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

ConvertOptions Undirected() {
  ConvertOptions options;
  options.directed = false;
  return options;
}

ConvertOptions Weighted() {
  ConvertOptions options = Undirected();
  options.weighted = true;
  return options;
}

//  1 --- 2
//   \   /
//     7        9 (a loop)
PlainGraph TriangleOf127() {
  PlainGraph plain;
  plain.vertices = {1, 2, 7, 9};
  for (auto [u, v] : {std::pair{1, 2}, {2, 7}, {1, 7}}) {
    plain.arcs[{u, v}] = {0};
    plain.arcs[{v, u}] = {0};
  }
  return plain;
}

TEST(EdgeList, BlanksTabsCommentsAndLineEndsAreAccepted) {
  for (const char* text : {
           "1 2\n2 7\n7 1\n9 9\n",
           "# a comment\n% another\n1\t2\n2\t7\n\n7\t1\n9\t9\n",
           "1 2\r\n2 7\r\n7 1\r\n9 9\r\n",
           "  1   2  \n\t2\t7\n7 1\n  # late comment\n9 9",
           "1 2\n2 1\n2 7\n2 7\n7 1\n1 7\n9 9\n9 9\n",
           "0000000000000000000000001 2\n2 7\n7 1\n9 9\n",
       }) {
    EXPECT_EQ(Converted("g.txt", text, Undirected()), TriangleOf127()) << text;
  }
}

TEST(EdgeList, AnEmptyFileIsAGraphWithoutVertices) {
  for (const char* text : {"", "\n", "# nothing\n", "#"}) {
    EXPECT_EQ(Converted("g.txt", text, Undirected()), PlainGraph()) << text;
    EXPECT_EQ(Converted("g.txt", text, Weighted()), PlainGraph()) << text;
  }
}

TEST(EdgeList, AMalformedLineIsNamedWithWhatWasExpectedAndFound) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1 2\n3 x\n", "g.txt:2: expected \"src dst\", found \"3 x\""},
      {"1 2\n3\n", "g.txt:2: expected \"src dst\", found \"3\""},
      {"1 2\n3 4 5\n", "g.txt:2: expected \"src dst\", found \"3 4 5\""},
      {"-1 2\n", "g.txt:1: expected \"src dst\", found \"-1 2\""},
      {"1,2\n", "g.txt:1: expected \"src dst\", found \"1,2\""},
      {"#\n\n1 18446744073709551616\n",
       "g.txt:3: expected \"src dst\", found \"1 18446744073709551616\""},
      {"1 2\r\n3 4a\r\n", "g.txt:2: expected \"src dst\", found \"3 4a\""},
      {"1 2\n12 \x01\x02\n", "g.txt:2: expected \"src dst\", found \"12 \\x01\\x02\""},
      {std::string("1 2\n3 4\0\n", 9), "g.txt:2: expected \"src dst\", found \"3 4\\x00\""},
      {"1 2 3 4\n", "g.txt:1: expected \"src dst\", found \"1 2 3 4\""},
      {"1.0 2\n", "g.txt:1: expected \"src dst\", found \"1.0 2\""},
      {"1 2\n" + std::string(200, '7') + "\n",
       "g.txt:2: expected \"src dst\", found \"" + std::string(60, '7') + "…\""},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(ConversionError("g.txt", text, Undirected()), message);
  }
}

TEST(EdgeList, OneHeaderBeforeTheFirstEdgeIsSkipped) {
  for (const char* text : {"src dst\n1 2\n2 7\n7 1\n9 9\n",
                           "# a comment\n\nFrom To kind since more\r\n1 2\n2 7\n7 1\n9 9\n"}) {
    EXPECT_EQ(Converted("g.txt", text, Undirected()), TriangleOf127()) << text;
  }
  EXPECT_EQ(Converted("g.txt", "a b w\n1 2 0.5\n", Weighted()).arcs.at({1, 2}),
            std::vector<double>{0.5});
  const std::string hint =
      ", a line without numbers: remove it, or put # before it to make it a comment";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"src dst\nfrom to\n", "g.txt:2: expected \"src dst\", found \"from to\"" + hint},
      {"1 2\nsrc dst\n", "g.txt:2: expected \"src dst\", found \"src dst\"" + hint},
      {"src\n1 2\n", "g.txt:1: expected \"src dst\", found \"src\"" + hint},
      {"src 2\n1 2\n", "g.txt:1: expected \"src dst\", found \"src 2\""},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(ConversionError("g.txt", text, Undirected()), message);
  }
}

TEST(EdgeList, AMalformedWeightIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1 2 3\n3 4\n", "g.txt:2: expected \"src dst weight\", found \"3 4\""},
      {"1 2\n",
       "g.txt:1: expected \"src dst weight\", found \"1 2\": leave out --weighted if the edges "
       "have "
       "no weights"},
      {"1 2 x\n", "g.txt:1: expected \"src dst weight\", found \"1 2 x\""},
      {"1 2 nan\n", "g.txt:1: expected \"src dst weight\", found \"1 2 nan\""},
      {"1 2 1e999\n", "g.txt:1: expected \"src dst weight\", found \"1 2 1e999\""},
      {"1 2 9223372036854775808\n",
       "g.txt:1: expected \"src dst weight\", found \"1 2 9223372036854775808\""},
      {"1 2 9007199254740993\n3 4 0.5\n",
       "g.txt:2: no type holds all its weights exactly: integers beyond 2^53 and decimals, found "
       "\"3 4 0.5\""},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(ConversionError("g.txt", text, Weighted()), message);
  }
}

TEST(EdgeList, WeightsAreNeverDroppedSilently) {
  EXPECT_EQ(ConversionError("g.txt", "1 2 3\n", Undirected()),
            "g.txt: its edges have weights: say --weighted to keep them or --drop-weights to leave "
            "them out");
  ConvertOptions drop = Undirected();
  drop.drop_weights = true;
  EXPECT_EQ(Converted("g.txt", "1 2 3\n", drop).arcs.at({1, 2}), std::vector<double>{0});
  EXPECT_EQ(ConversionError("g.txt", "1 2 3\n3 4 y\n", drop),
            "g.txt:2: expected \"src dst weight\", found \"3 4 y\"");
}

TEST(EdgeList, TheSmallestTypeThatHoldsEveryWeightIsChosen) {
  const std::vector<std::pair<std::string, WeightType>> cases = {
      {"1 2 5\n1 3 -7\n", WeightType::kInt32},
      {"1 2 2147483647\n1 3 -2147483648\n", WeightType::kInt32},
      {"1 2 2147483648\n", WeightType::kInt64},
      {"1 2 9223372036854775807\n1 3 -9223372036854775808\n", WeightType::kInt64},
      {"1 2 0.5\n1 3 3\n", WeightType::kFloat32},
      {"1 2 3\n1 3 +1.5e2\n", WeightType::kFloat32},
      {"1 2 0.5\n1 3 16777217\n", WeightType::kFloat64},
      {"1 2 0.1\n", WeightType::kFloat64},
      {"1 2 1e300\n", WeightType::kFloat64},
  };
  for (const auto& [text, type] : cases) {
    const ScratchFolder folder;
    WriteFile(folder / "g.txt", text);
    ConvertOptions options = Weighted();
    options.in = folder / "g.txt";
    options.out = folder / "g.slim";
    const auto report = Convert(options);
    ASSERT_OK(report);
    EXPECT_EQ(report->weight_type, type) << text;
  }
}

TEST(EdgeList, TheLightestDuplicateIsKept) {
  const PlainGraph graph = Converted("g.txt", "1 2 5\n2 1 -3\n1 2 0.25\n1 2 9\n", Weighted());
  EXPECT_EQ(graph.arcs.at({1, 2}), std::vector<double>{-3});
  EXPECT_EQ(graph.arcs.at({2, 1}), std::vector<double>{-3});
}

TEST(EdgeList, ErrorsNameTheLineForAnyNumberOfThreads) {
  std::string text;
  const std::size_t bad_line = 400'000;
  for (std::size_t line = 1; line <= 500'000; ++line) {
    text += line == bad_line ? "7 seven\n" : line == bad_line + 7 ? "8 eight\n" : "12 345\n";
  }
  for (const std::size_t threads : {1u, 2u, 7u}) {
    ConvertOptions options = Undirected();
    options.threads = threads;
    EXPECT_EQ(ConversionError("g.txt", text, options),
              "g.txt:400000: expected \"src dst\", found \"7 seven\"");
  }
}

TEST(EdgeList, VertexFilesAddVerticesWithoutEdges) {
  const ScratchFolder folder;
  WriteFile(folder / "g.v", "3\n1\n# more\n10\n18446744073709551615\n");
  ConvertOptions options = Undirected();
  options.vertices = folder / "g.v";
  EXPECT_EQ(Converted("g.e", "1 7\n", options).vertices,
            (std::vector<std::uint64_t>{1, 3, 7, 10, 18446744073709551615u}));
  WriteFile(folder / "g.v", "3\n1 2\n");
  const std::string message = ConversionError("g.e", "1 7\n", options);
  EXPECT_TRUE(message.ends_with("g.v:2: expected one vertex id, found \"1 2\"")) << message;
}

TEST(MatrixMarket, PatternRealAndIntegerAreRead) {
  const std::string general =
      "%%MatrixMarket matrix coordinate pattern general\n%\n3 3 2\n1 2\n3 1\n";
  PlainGraph expected;
  expected.vertices = {1, 2, 3};
  expected.arcs = {{{1, 2}, {0}}, {{3, 1}, {0}}};
  EXPECT_EQ(Converted("g.mtx", general, {}), expected);

  const std::string symmetric =
      "%%matrixmarket MATRIX coordinate real symmetric\n4 4 2\n2 1 0.5\n3 1 -2e1\n";
  ConvertOptions weighted;
  weighted.weighted = true;
  expected.vertices = {1, 2, 3, 4};
  expected.arcs = {{{1, 2}, {0.5}}, {{2, 1}, {0.5}}, {{1, 3}, {-20}}, {{3, 1}, {-20}}};
  EXPECT_EQ(Converted("g.mtx", symmetric, weighted), expected);
}

TEST(MatrixMarket, MalformedInputIsNamed) {
  const std::string head = "%%MatrixMarket matrix coordinate ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {head + "complex general\n",
       "g.mtx:1: expected \"%%MatrixMarket matrix coordinate pattern|real|integer "
       "general|symmetric\", found \"%%MatrixMarket matrix coordinate complex general\""},
      {head + "pattern general\n3 4 1\n1 1\n",
       "g.mtx:2: expected a square matrix, found 3 rows and 4 columns"},
      {head + "pattern general\n3 3 1\n1 4\n",
       "g.mtx:3: expected \"row column\" with numbers from 1 to 3, found \"1 4\""},
      {head + "pattern general\n3 3 1\n0 1\n",
       "g.mtx:3: expected \"row column\" with numbers from 1 to 3, found \"0 1\""},
      {head + "pattern symmetric\n3 3 1\n1 2\n",
       "g.mtx:3: expected \"row column\" with numbers from 1 to 3, row >= column as the matrix is "
       "symmetric, found \"1 2\""},
      {head + "pattern general\n3 3 2\n1 2\n",
       "g.mtx:2: expected 2 entries, as this line says, found 1"},
      {head + "pattern general\n",
       "g.mtx:1: expected \"rows columns entries\", found the end of the file"},
      {head + "pattern general\n4294967296 4294967296 0\n",
       "g.mtx: 4294967296 vertices are too many: at most 4294967295 are supported"},
      {"",
       "g.mtx:1: expected \"%%MatrixMarket matrix coordinate pattern|real|integer "
       "general|symmetric\", found \"\""},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(ConversionError("g.mtx", text), message);
  ConvertOptions weighted;
  weighted.weighted = true;
  EXPECT_EQ(ConversionError("g.mtx", head + "integer general\n3 3 1\n1 2 0.5\n", weighted),
            "g.mtx:3: expected \"row column value\" with numbers from 1 to 3 and an integer value, "
            "found \"1 2 0.5\"");
}

//  1 --- 2     4
//   \   /
//     3
constexpr const char* kMetisTriangle = "% made by hand\n4 3\n2 3\n% between\n1 3\n1 2\n\n";

TEST(Metis, RowsAreVerticesAndBlankRowsHaveNoNeighbours) {
  PlainGraph expected;
  expected.vertices = {1, 2, 3, 4};
  for (auto [u, v] : {std::pair{1, 2}, {2, 3}, {1, 3}}) {
    expected.arcs[{u, v}] = {0};
    expected.arcs[{v, u}] = {0};
  }
  EXPECT_EQ(Converted("g.graph", kMetisTriangle, {}), expected);
  EXPECT_EQ(Converted("g.metis", "4 3\n2 3 \n1 3\n1 2\n\n\n", {}), expected);
}

TEST(Metis, EdgeWeightsAreRead) {
  ConvertOptions weighted;
  weighted.weighted = true;
  const PlainGraph graph = Converted("g.graph", "3 2 001\n2 5 3 -6\n1 5\n1 -6\n", weighted);
  EXPECT_EQ(graph.arcs.at({1, 2}), std::vector<double>{5});
  EXPECT_EQ(graph.arcs.at({3, 1}), std::vector<double>{-6});
}

TEST(Metis, MalformedInputIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "g.graph:1: expected \"vertices edges [format]\", found the end of the file"},
      {"3\n", "g.graph:1: expected \"vertices edges [format]\", found \"3\""},
      {"2 1 10\n",
       "g.graph:1: weights or sizes of vertices (format 10) are not supported; a format "
       "of 0 or 1 is"},
      {"2 1\n2\n3\n", "g.graph:3: expected neighbours from 1 to 2, found \"3\""},
      {"2 1\n2\n0\n", "g.graph:3: expected neighbours from 1 to 2, found \"0\""},
      {"2 1\n2\n1x\n", "g.graph:3: expected neighbours from 1 to 2, found \"1x\""},
      {"2 1\n2\n", "g.graph:1: expected 2 lines of neighbours, as this line says, found 1"},
      {"2 1\n2\n1\n1\n", "g.graph:1: expected 2 lines of neighbours, as this line says, found 3"},
      {"2 2\n2\n1\n", "g.graph:1: expected 2 edges, as this line says, found 1"},
      {"2 1\n2\n\n",
       "g.graph: not symmetric: an undirected graph lists each edge at both ends, with the same "
       "weight; here some edge is listed at one end only or with two weights"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(ConversionError("g.graph", text), message);
}

TEST(Directions, ContradictionsBetweenFileAndOptionsAreErrors) {
  const std::string general = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
  ConvertOptions options;
  EXPECT_EQ(ConversionError("g.txt", "1 2\n", options),
            "g.txt: its format does not say whether edges have a direction: say --directed or "
            "--undirected");
  options.directed = false;
  EXPECT_EQ(ConversionError("g.mtx", general, options),
            "g.mtx: this graph is directed: say --symmetrize to drop the directions");
  options.directed = true;
  EXPECT_EQ(ConversionError("g.graph", kMetisTriangle, options),
            "g.graph: this graph is undirected: leave out --directed");
  options = {};
  options.symmetrize = true;
  EXPECT_EQ(Converted("g.mtx", general, options).arcs.size(), 2u);
}

}  // namespace
}  // namespace slimgraph::test
