// Outputs of commands: files by their endings, and standard output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/support/command.h"

namespace slimgraph {
namespace {

class Outputs : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteText(scratch_.File("g.wel"), "10 20 4\n10 30 1\n30 20 2\n60 50 1\n");
    const CommandEnd end =
        RunSlimgraph({"convert", scratch_.File("g.wel"), graph_, "--undirected", "--weighted"});
    ASSERT_EQ(end.code, 0) << end.err;
  }

  struct Npy {
    std::string type;  // of the values
    std::vector<std::uint64_t> ids;
    std::vector<std::uint64_t> bits;
    double Number(std::size_t i) const {
      double number = 0;
      std::memcpy(&number, &bits[i], sizeof number);
      return number;
    }
  };
  // Reads NumPy's format, version 1.0, by its specification.
  static Npy ReadNpy(const std::string& path) {
    const std::string file = ReadText(path);
    Npy npy;
    EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    if (file.size() < 10) return npy;
    const std::size_t length =
        static_cast<unsigned char>(file[8]) + 256U * static_cast<unsigned char>(file[9]);
    EXPECT_EQ((10 + length) % 64, 0U);
    const std::string header = file.substr(10, length);
    EXPECT_EQ(header.back(), '\n');
    const std::string before = "{'descr': [('id', '<u8'), ('value', '";
    EXPECT_EQ(header.find(before), 0U) << header;
    npy.type = header.substr(before.size(), 3);
    const std::size_t rows = (file.size() - 10 - length) / 16;
    EXPECT_NE(header.find("'fortran_order': False, 'shape': (" + std::to_string(rows) + ",), }"),
              std::string::npos)
        << header;
    for (std::size_t i = 0; i < rows; ++i) {
      for (auto* const column : {&npy.ids, &npy.bits}) {
        const std::size_t at = 10 + length + i * 16 + (column == &npy.ids ? 0 : 8);
        std::memcpy(&column->emplace_back(), file.data() + at, 8);
      }
    }
    return npy;
  }

  ScratchDirectory scratch_;
  std::string graph_ = scratch_.File("g.slim");
};

TEST_F(Outputs, ADashIsStandardOutputAndTheRestGoesToStandardError) {
  const std::string expected = "10 0\n20 1\n30 1\n50 9223372036854775807\n60 9223372036854775807\n";
  for (const char* const nodes : {"1", "3"}) {
    const CommandEnd end =
        RunSlimgraph({"bfs", graph_, "--source", "10", "-o", "-", "--nodes", nodes});
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, expected);
    EXPECT_NE(end.err.find("3 vertices reached"), std::string::npos) << end.err;
    const CommandEnd local =
        RunSlimgraph({"local", graph_, "--triangles", "-o", "-", "--nodes", nodes});
    EXPECT_EQ(local.out, "10 1\n20 1\n30 1\n50 0\n60 0\n") << local.err;
    const CommandEnd match =
        RunSlimgraph({"match", graph_, "--pattern", "triangle", "-o", "-", "--nodes", nodes});
    EXPECT_EQ(match.out.substr(0, 2), "# ") << match.err;
    EXPECT_EQ(std::count(match.out.begin(), match.out.end(), '\n'), 2) << match.out;
  }
  const CommandEnd both = RunSlimgraph({"bfs", graph_, "--source", "10", "-o", "-", "--json"});
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("both write to standard output"), std::string::npos) << both.err;
}

TEST_F(Outputs, ADashIsStandardOutputForGraphsToo) {
  const std::string file = scratch_.File("k.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "8", "-o", file}).code, 0);
  const std::string temporary = "TMPDIR=" + scratch_.File("tmp");
  std::filesystem::create_directory(scratch_.File("tmp"));
  const auto expect_graph = [&](const std::vector<std::string>& words) {
    const CommandEnd end = RunSlimgraph(words, {temporary});
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, ReadText(file)) << words[0];
    EXPECT_NE(end.err.find("256 vertices"), std::string::npos) << end.err;
    EXPECT_TRUE(std::filesystem::is_empty(scratch_.File("tmp")));
  };
  expect_graph({"gen", "kron", "-s", "8", "-o", "-"});
  expect_graph({"convert", file, "-"});
  expect_graph({"convert", file, "-o", "-"});
  ASSERT_EQ(RunSlimgraph({"store", "create", file, "-o", scratch_.File("store")}).code, 0);
  const CommandEnd exported =
      RunSlimgraph({"store", "export", scratch_.File("store"), "-o", "-"}, {temporary});
  WriteText(scratch_.File("e.slim"), exported.out);
  EXPECT_EQ(RunSlimgraph({"info", scratch_.File("e.slim"), "--check"}).code, 0) << exported.err;
  EXPECT_EQ(RunSlimgraph({"gen", "kron", "-s", "8", "-o", "-", "--json"}).code, 2);
}

TEST_F(Outputs, TheEndingChoosesTheForm) {
  const auto write = [&](std::vector<std::string> words, const std::string& name) {
    words.insert(words.begin() + 1, graph_);
    words.insert(words.end(), {"-o", scratch_.File(name)});
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 0) << end.err;
    return scratch_.File(name);
  };
  EXPECT_EQ(ReadText(write({"sssp", "--source", "10"}, "d.csv")),
            "id,value\n10,0\n20,3\n30,1\n50,Infinity\n60,Infinity\n");
  const Npy depths = ReadNpy(write({"bfs", "--source", "10"}, "d.npy"));
  EXPECT_EQ(depths.type, "<i8");
  EXPECT_EQ(depths.ids, (std::vector<std::uint64_t>{10, 20, 30, 50, 60}));
  EXPECT_EQ(depths.bits, (std::vector<std::uint64_t>{0, 1, 1, ~0ULL >> 1, ~0ULL >> 1}));
  // Infinity makes all of them doubles, also those before it.
  const Npy distances = ReadNpy(write({"sssp", "--source", "10"}, "s.npy"));
  EXPECT_EQ(distances.type, "<f8");
  ASSERT_EQ(distances.bits.size(), 5U);
  EXPECT_EQ(distances.Number(1), 3);
  EXPECT_EQ(distances.Number(2), 1);
  EXPECT_EQ(distances.Number(4), HUGE_VAL);
  const Npy local = ReadNpy(write({"local", "--clustering"}, "c.npy"));
  ASSERT_EQ(local.bits.size(), 5U);
}

// Components are named by ids, which may need 64 bits.
TEST_F(Outputs, LargeIdsStayExactInNumpyFiles) {
  WriteText(scratch_.File("l.el"), "18446744073709551614 18446744073709551615\n");
  const std::string large = scratch_.File("l.slim");
  ASSERT_EQ(
      RunSlimgraph({"convert", scratch_.File("l.el"), large, "--undirected", "--from", "snap"})
          .code,
      0);
  ASSERT_EQ(RunSlimgraph({"cc", large, "-o", scratch_.File("l.npy")}).code, 0);
  const Npy npy = ReadNpy(scratch_.File("l.npy"));
  EXPECT_EQ(npy.type, "<u8");
  EXPECT_EQ(npy.ids, (std::vector<std::uint64_t>{~0ULL - 1, ~0ULL}));
  EXPECT_EQ(npy.bits, (std::vector<std::uint64_t>{~0ULL - 1, ~0ULL - 1}));
}

TEST_F(Outputs, OneDefaultOfTheEdgeCacheHoldsForAllEngines) {
  const std::string graph = scratch_.File("k.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "10", "-o", graph}).code, 0);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"pagerank"}, {"triangles"}}) {
    const CommandEnd help = RunSlimgraph({words[0], "--help"});
    EXPECT_NE(help.out.find("--edge-cache BYTES|PERCENT|auto"), std::string::npos) << words[0];
    for (const char* const budget : {"auto", "100%", "25%", "1M", "0"}) {
      const CommandEnd end = RunSlimgraph(
          {words[0], graph, "--nodes", "3", "--compute", "1", "--edge-cache", budget, "--json"});
      EXPECT_EQ(end.code, 0) << words[0] << ' ' << budget << ": " << end.err;
    }
  }
}

}  // namespace
}  // namespace slimgraph
