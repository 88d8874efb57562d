// The tiny graphs of datasets/ have the sizes that their comments give.
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

Result<ConvertReport> ConvertTiny(const ScratchFolder& folder, const std::string& name,
                                  ConvertOptions options) {
  options.in = "datasets/tiny/" + name;
  options.out = folder / "out.slim";
  return Convert(options);
}

TEST(Datasets, TinyGraphsHaveTheSizesOfTheirComments) {
  if (!std::filesystem::exists("datasets/tiny")) GTEST_SKIP() << "not run from the source folder";
  const ScratchFolder folder;
  ConvertOptions options;
  options.directed = false;
  options.vertices = "datasets/tiny/house.v";
  auto report = ConvertTiny(folder, "house.txt", options);
  ASSERT_OK(report);
  EXPECT_EQ(report->vertices, 6u);
  EXPECT_EQ(report->edges, 6u);

  report = ConvertTiny(folder, "house.graph", {});
  ASSERT_OK(report);
  EXPECT_EQ(report->vertices, 5u);
  EXPECT_EQ(report->edges, 6u);

  options = {};
  options.directed = true;
  options.weighted = true;
  report = ConvertTiny(folder, "roads.wel", options);
  ASSERT_OK(report);
  EXPECT_EQ(report->edges, 5u);
  EXPECT_EQ(ReadPlain(folder / "out.slim").arcs.at({2, 1}), std::vector<double>{2});

  report = ConvertTiny(folder, "chain.mtx", {});
  ASSERT_OK(report);
  EXPECT_EQ(report->edges, 3u);
}

}  // namespace
}  // namespace slimgraph::test
