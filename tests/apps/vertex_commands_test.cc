// The commands that run vertex programs, as a person meets them.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/command.h"

namespace slimgraph {
namespace {

class VertexCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteText(scratch_.File("roads.wel"), "10 20 4\n10 30 1\n30 20 2\n20 40 3\n30 40 7\n60 50 1\n");
    const CommandEnd end =
        RunSlimgraph({"convert", scratch_.File("roads.wel"), graph_, "--directed", "--weighted"});
    ASSERT_EQ(end.code, 0) << end.err;
  }

  // What a command writes with --output, on one node and on four of which two compute.
  void ExpectOutput(std::vector<std::string> words, const std::string& expected) {
    const std::string path = scratch_.File("out");
    words.insert(words.begin() + 1, graph_);
    words.insert(words.end(), {"--verify", "--output", path});
    for (const char* const nodes : {"1", "4"}) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {"--nodes", nodes, "--compute", nodes[0] == '1' ? "1" : "2"});
      const CommandEnd end = RunSlimgraph(all);
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_EQ(ReadText(path), expected) << words[0] << " on " << nodes;
    }
  }

  ScratchDirectory scratch_;
  std::string graph_ = scratch_.File("roads.slim");
};

TEST_F(VertexCommands, WriteALineForEachVertexInOriginalIds) {
  const std::string never = "9223372036854775807\n";
  ExpectOutput({"bfs", "--source", "10"}, "10 0\n20 1\n30 1\n40 2\n50 " + never + "60 " + never);
  ExpectOutput({"sssp", "--source", "10"}, "10 0\n20 3\n30 1\n40 6\n50 Infinity\n60 Infinity\n");
  ExpectOutput({"cc"}, "10 10\n20 10\n30 10\n40 10\n50 50\n60 50\n");
  ExpectOutput({"pagerank", "--iterations", "0"},
               "10 1.666666666666667e-01\n20 1.666666666666667e-01\n30 1.666666666666667e-01\n"
               "40 1.666666666666667e-01\n50 1.666666666666667e-01\n60 1.666666666666667e-01\n");
  ExpectOutput({"bc", "--sources", "10,60"},
               "10 0.000000000000000e+00\n20 5.000000000000000e-01\n30 5.000000000000000e-01\n"
               "40 0.000000000000000e+00\n50 0.000000000000000e+00\n60 0.000000000000000e+00\n");
}

TEST_F(VertexCommands, RefuseWhatTheyCannotDo) {
  WriteText(scratch_.File("negative.wel"), "1 2 3\n2 3 -1\n");
  const std::string negative = scratch_.File("negative.slim");
  ASSERT_EQ(RunSlimgraph(
                {"convert", scratch_.File("negative.wel"), negative, "--undirected", "--weighted"})
                .code,
            0);
  struct Case {
    std::vector<std::string> words;
    int code;
    std::string says;
  };
  const Case cases[] = {
      {{"bfs", negative, "--source", "99"},
       3,
       "source 99 is out of range: the graph has vertices 1..3"},
      {{"bfs", graph_, "--source", "11"}, 3, "source 11 is no vertex of the graph"},
      {{"bfs", graph_}, 2, "bfs needs --source V"},
      {{"sssp", negative, "--source", "1"}, 3, "negative weight"},
      {{"bfs", graph_, "--source", "10", "--nodes", "2", "--compute", "3"}, 2, "--compute 3"},
      {{"bc", graph_}, 2, "--sources"},
      {{"cc", graph_, "--edge-cache", "120%"}, 2, "120%"},
      {{"cc", graph_, "--edge-cache", "1", "--nodes", "4", "--compute", "2"},
       3,
       "--edge-cache 1 B has no room for the longest list of node"},
      {{"cc", graph_, "--memory-side", "both"}, 2, "--memory-side"},
      {{"cc", graph_, "--output", scratch_.File("no/such/folder")}, 4, "no/such/folder"},
  };
  for (const Case& one : cases) {
    const CommandEnd end = RunSlimgraph(one.words);
    EXPECT_EQ(end.code, one.code) << end.err;
    EXPECT_NE(end.err.find(one.says), std::string::npos) << end.err;
  }
}

TEST_F(VertexCommands, GetTheSameFromMemoryNodesThatServeOnAllTransports) {
  const std::string kron = scratch_.File("kron.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "10", "--weights", "1..255", "-o", kron}).code, 0);
  for (const char* const transport : {"shm", "tcp", "mpi"}) {
    for (const char* const side : {"strict", "serve"}) {
      for (const char* const cache : {"none", "edge"}) {
        const CommandEnd end =
            RunSlimgraph({"sssp",          kron,    "--source",  "1",   "--nodes",      "3",
                          "--compute",     "1",     "--threads", "2",   "--transport",  transport,
                          "--memory-side", side,    "--cache",   cache, "--edge-cache", "5%",
                          "--verify",      "--json"});
        EXPECT_EQ(end.code, 0) << transport << ' ' << side << ' ' << cache << ": " << end.err;
        EXPECT_EQ(end.out.find("\"serve\":{") != std::string::npos, side == std::string("serve"))
            << end.out;
      }
    }
  }
}

TEST_F(VertexCommands, HoldNoMoreMemoryThanTheyAnnounced) {
  const std::string kron = scratch_.File("kron.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "16", "-o", kron}).code, 0);
  const auto numbers = [](const std::string& report, const std::string& name) {
    std::vector<double> found;
    std::istringstream text(report.substr(report.find("\"" + name + "\":[") + name.size() + 4));
    char comma = ',';
    for (double number = 0; comma == ',' && text >> number; text >> comma) found.push_back(number);
    return found;
  };
  for (const char* const compute : {"4", "2", "1"}) {
    for (const char* const cache : {"none", "edge"}) {
      const CommandEnd end = RunSlimgraph(
          {"pagerank", kron, "--nodes", "4", "--compute", compute, "--cache", cache, "--json"});
      ASSERT_EQ(end.code, 0) << end.err;
      const auto announced = numbers(end.out, "announced_bytes");
      const auto peak = numbers(end.out, "peak_bytes");
      ASSERT_EQ(announced.size(), 4U) << end.out;
      ASSERT_EQ(peak.size(), 4U);
      for (std::size_t node = 0; node < 4; ++node) {
        EXPECT_LE(peak[node], 1.15 * announced[node]) << node << " of " << compute << ' ' << cache;
      }
    }
  }
}

}  // namespace
}  // namespace slimgraph
