// Which options are valid for which files, and which exit code each kind of error has.
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

TEST(ConvertOptions, AnUnknownSuffixNeedsTheFromOption) {
  ConvertOptions options;
  options.directed = true;
  EXPECT_EQ(
      ConversionError("graph.dat", "1 2\n", options),
      "graph.dat: its name does not tell its format: say --from with snap, mtx, metis, sg, wsg, "
      "gemini, webgraph or slim");
  options.from = FileFormat::kSnap;
  EXPECT_EQ(ConversionError("graph.dat", "1 2\n", options), "");
  EXPECT_EQ(ParseFileFormat("metis"), FileFormat::kMetis);
  EXPECT_FALSE(ParseFileFormat("xml"));
  EXPECT_EQ(FileFormatOf("a/b.mtx.gz"), FileFormat::kMatrixMarket);
  EXPECT_EQ(FileFormatOf("a/b.wsg.zst"), FileFormat::kWsg);
}

TEST(ConvertOptions, OptionsThatDoNotFitTheFileAreErrors) {
  const std::string text = "1 2\n";
  ConvertOptions options;
  options.directed = true;
  options.weighted = true;
  options.drop_weights = true;
  EXPECT_EQ(ConversionError("g.txt", text, options),
            "--weighted and --drop-weights contradict each other");
  options = {};
  options.directed = true;
  options.vertex_count = 7;
  EXPECT_EQ(ConversionError("g.txt", text, options),
            "--vertex-count is for Gemini pairs; other files say it or use --vertices");
  options = {};
  options.vertices = "v";
  EXPECT_EQ(ConversionError("g.graph", "1 0\n\n", options),
            "--vertices is for edge lists; metis files list their vertices themselves");
  options = {};
  options.directed = true;
  options.symmetrize = true;
  EXPECT_EQ(ConversionError("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n",
                            options),
            "--symmetrize makes an undirected graph: leave out --directed");
}

TEST(ConvertOptions, ExitCodesDistinguishUsageInputAndEnvironment) {
  const ScratchFolder folder;
  const auto exit_code = [&](const std::string& in, const std::string& out) {
    ConvertOptions options;
    options.directed = true;
    options.in = in;
    options.out = out;
    const auto report = Convert(options);
    return report ? 0 : report.error().exit_code();
  };
  WriteFile(folder / "good.txt", "1 2\n");
  WriteFile(folder / "bad.txt", "1 b\n");
  EXPECT_EQ(exit_code(folder / "good.txt", folder / "out.slim"), 0);
  EXPECT_EQ(exit_code(folder / "good.txt", folder / "out.txt"), 2);
  EXPECT_EQ(exit_code(folder / "bad.txt", folder / "out.slim"), 3);
  EXPECT_EQ(exit_code(folder / "missing.txt", folder / "out.slim"), 3);
  EXPECT_EQ(exit_code(folder.path() + "/.", folder / "out.slim"), 2);
  EXPECT_EQ(exit_code(folder / "good.txt", folder / "no/such/folder.slim"), 4);
}

TEST(ConvertOptions, AGraphMayReplaceItself) {
  const ScratchFolder folder;
  WriteFile(folder / "g.txt", "5 7\n7 5\n9 9\n");
  ConvertOptions options;
  options.in = folder / "g.txt";
  options.out = folder / "g.slim";
  options.directed = true;
  ASSERT_OK(Convert(options));
  options.in = options.out;
  options.directed.reset();
  options.symmetrize = true;
  const auto report = Convert(options);
  ASSERT_OK(report);
  EXPECT_EQ(report->edges, 1u);
  EXPECT_EQ(report->duplicates, 1u);
  const PlainGraph graph = ReadPlain(options.out);
  EXPECT_EQ(graph.vertices, (std::vector<std::uint64_t>{5, 7, 9}));
  EXPECT_EQ(graph.arcs.size(), 2u);
}

}  // namespace
}  // namespace slimgraph::test
