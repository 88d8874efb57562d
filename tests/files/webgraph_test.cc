// Graphs of the WebGraph framework: reads files of the reference implementation
// (webgraph/README.md), and rejects broken ones.
#include <algorithm>

#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

constexpr const char* kFolder = "tests/files/webgraph/";
constexpr const char* kReadable[] = {"default", "plain", "wide", "delta", "nibble", "gamma"};

class WebGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "not run from the source folder";
  }

  static std::string Properties(const std::string& name) {
    return ReadFile(kFolder + name + ".properties");
  }
  static std::string Lists(const std::string& name) { return ReadFile(kFolder + name + ".graph"); }

  // The error message of a conversion of these two files; empty if it succeeds.
  std::string Convert(const std::string& properties, const std::string& lists,
                      ConvertOptions options = {}) {
    WriteFile(folder_ / "g.properties", properties);
    WriteFile(folder_ / "g.graph", lists);
    options.in = folder_ / "g.graph";
    options.out = folder_ / "out.slim";
    options.threads = 1;
    const auto report = slimgraph::Convert(options);
    std::string message = MessageOf(report);
    const std::string place = folder_.path() + "/";
    for (std::size_t at; (at = message.find(place)) != std::string::npos;) {
      message.erase(at, place.size());
    }
    return message;
  }
  PlainGraph Converted() { return ReadPlain(folder_ / "out.slim"); }

  static std::string Replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
  }

  ScratchFolder folder_;
};

TEST_F(WebGraph, ReadsTheListsOfTheReferenceImplementation) {
  PlainGraph expected;
  for (std::uint64_t v = 0; v < 96; ++v) expected.vertices.push_back(v);
  std::istringstream arcs(ReadFile(std::string(kFolder) + "arcs.txt"));
  for (std::uint64_t from, to; arcs >> from >> to;) expected.arcs[{from, to}] = {0};
  ASSERT_EQ(expected.arcs.size(), 799U);
  ConvertOptions keep;
  keep.self_loops = Keep::kKeep;
  for (const std::string name : kReadable) {
    ASSERT_EQ(Convert(Properties(name), Lists(name), keep), "") << name;
    EXPECT_EQ(Converted(), expected) << name;
  }
}

TEST_F(WebGraph, SymmetrizeMakesTheGraphUndirected) {
  ConvertOptions options;
  options.symmetrize = true;
  ASSERT_EQ(Convert(Properties("default"), Lists("default"), options), "");
  const PlainGraph graph = Converted();
  for (const auto& [arc, weight] : graph.arcs) {
    EXPECT_TRUE(graph.arcs.contains({arc.second, arc.first})) << arc.first << " " << arc.second;
  }
}

TEST_F(WebGraph, FaultsAreNamed) {
  const std::string good = Properties("default");
  const std::string lists = Lists("default");
  const struct {
    std::string properties;
    std::string says;
  } wrong[] = {
      {Replaced(good, "nodes=96", ""), "g.properties: there is no 'nodes'"},
      {Replaced(good, "arcs=799", "arcs=many"),
       "g.properties: expected a number as 'arcs', found 'many'"},
      {Replaced(good, "arcs=799", "arcs=798"),
       "g.graph: the list of 95 has more arcs than the properties file says"},
      {Replaced(good, "arcs=799", "arcs=800"),
       "g.graph: expected 800 arcs, as g.properties says, found 799"},
      {Replaced(good, "nodes=96", "nodes=97"),
       "g.graph: truncated: it ends at bit 3448, within a list"},
      {Replaced(good, "nodes=96", "nodes=4294967296"),
       "g.properties: 4294967296 vertices are more than the 4294967295 that are supported"},
      {Replaced(good, "nodes=96", "nodes=3"),
       "g.properties: 799 arcs are too many between 3 vertices"},
      {Replaced(good, "nodes=96", "nodes=0"),
       "g.properties: 799 arcs are too many between 0 vertices"},
      {Replaced(good, "BVGraph", "EFGraph"),
       "g.properties: expected a BVGraph, found a it.unimi.dsi.webgraph.EFGraph"},
      {Replaced(good, "zetak=3", "zetak=0"), "g.properties: zeta codes of k = 0 are unknown"},
      {Properties("golomb"),
       "g.properties: lists with the compression flag 'RESIDUALS_GOLOMB' cannot be read"},
  };
  for (const auto& one : wrong) EXPECT_EQ(Convert(one.properties, lists), one.says);
  ConvertOptions weighted;
  weighted.weighted = true;
  EXPECT_NE(Convert(good, lists, weighted).find("weights"), std::string::npos);
}

TEST_F(WebGraph, TruncatedFilesAreErrors) {
  for (const std::string name : kReadable) {
    const std::string lists = Lists(name);
    for (std::size_t bytes = 0; bytes < lists.size(); bytes += 9) {
      EXPECT_NE(Convert(Properties(name), lists.substr(0, bytes)), "") << name << " " << bytes;
    }
  }
}

TEST_F(WebGraph, FlippedBitsAreAnErrorOrAnotherGraph) {
  auto random = SeededRandom();
  ConvertOptions keep;
  keep.self_loops = Keep::kKeep;
  for (const std::string name : kReadable) {
    for (int trial = 0; trial < 60; ++trial) {
      std::string lists = Lists(name);
      for (int flips = 0; flips <= trial % 3; ++flips) {
        lists[random() % lists.size()] ^= static_cast<char>(1 << random() % 8);
      }
      if (Convert(Properties(name), lists, keep).empty()) {
        EXPECT_EQ(Converted().arcs.size(), 799U);
      }
    }
  }
}

TEST_F(WebGraph, AGraphFileWithoutPropertiesIsReadAsMetis) {
  EXPECT_EQ(ConversionError("g.graph", "2 1\n2\n1\n"), "");
  ConvertOptions options;
  options.from = FileFormat::kWebGraph;
  EXPECT_NE(ConversionError("g.graph", Lists("default"), options).find("g.properties"),
            std::string::npos);
}

}  // namespace
}  // namespace slimgraph::test
