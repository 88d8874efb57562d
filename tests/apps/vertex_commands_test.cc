// The commands that run vertex programs, as a user sees them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "slimgraph/stats/json_value.h"
#include "tests/support/command.h"
#include "tests/support/sanitized.h"

namespace slimgraph {
namespace {

class VertexCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteText(scratch_.File("roads.wel"), "10 20 4\n10 30 1\n30 20 2\n20 40 3\n30 40 7\n60 50 1\n");
    const CommandEnd end =
        RunSlimgraph({"convert", scratch_.File("roads.wel"), graph_, "--directed", "--weighted"});
    ASSERT_EQ(end.code, 0) << end.err;
    const CommandEnd ordered =
        RunSlimgraph({"convert", graph_, by_degree_, "--order", "degree", "--weighted"});
    ASSERT_EQ(ordered.code, 0) << ordered.err;
  }

  // Expects what a command writes with --output, on one node and on four with two compute nodes,
  // for both orders of the vertices in the file.
  void ExpectOutput(std::vector<std::string> words, const std::string& expected) {
    const std::string path = scratch_.File("out");
    words.insert(words.end(), {"--verify", "--output", path});
    for (const std::string& graph : {graph_, by_degree_}) {
      for (const char* const nodes : {"1", "4"}) {
        std::vector<std::string> all = words;
        all.insert(all.begin() + 1, graph);
        all.insert(all.end(), {"--nodes", nodes, "--compute", nodes[0] == '1' ? "1" : "2"});
        const CommandEnd end = RunSlimgraph(all);
        EXPECT_EQ(end.code, 0) << end.err;
        EXPECT_EQ(ReadText(path), expected) << words[0] << " of " << graph << " on " << nodes;
      }
    }
  }

  ScratchDirectory scratch_;
  std::string graph_ = scratch_.File("roads.slim");
  std::string by_degree_ = scratch_.File("by-degree.slim");  // the same graph
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
  ExpectOutput({"pagerank", "--source", "30", "--iterations", "1", "--damping", "0.5"},
               "10 0.000000000000000e+00\n20 2.500000000000000e-01\n30 5.000000000000000e-01\n"
               "40 2.500000000000000e-01\n50 0.000000000000000e+00\n60 0.000000000000000e+00\n");
  ExpectOutput({"khop", "--source", "10", "--hops", "1"},
               "10 0\n20 1\n30 1\n40 " + never + "50 " + never + "60 " + never);
  ExpectOutput({"khop", "--source", "50", "--hops", "0"},
               "10 " + never + "20 " + never + "30 " + never + "40 " + never + "50 0\n60 " + never);
  ExpectOutput({"cdlp", "--iterations", "0"}, "10 10\n20 20\n30 30\n40 40\n50 50\n60 60\n");
  ExpectOutput({"cdlp", "--iterations", "1"}, "10 20\n20 10\n30 10\n40 20\n50 60\n60 50\n");
  ExpectOutput({"cdlp", "--iterations", "2"}, "10 10\n20 20\n30 20\n40 10\n50 50\n60 60\n");
  ExpectOutput({"kcore"}, "10 2\n20 2\n30 2\n40 2\n50 1\n60 1\n");
  for (const char* const seed : {"1", "2", "3"}) {
    ExpectOutput({"mis", "--seed", seed},
                 RunSlimgraph({"mis", graph_, "--seed", seed, "-o", "-"}).out);
  }
}

// An edge both ways counts twice, a vertex without edges keeps its label, and a core has different
// neighbours only.
//
//   1 <-> 2 --> 3    3 --> 3    4 (no edges)    5 --> 2
TEST_F(VertexCommands, CountNeighboursOfBothDirections) {
  WriteText(scratch_.File("both.el"), "1 2\n2 1\n2 3\n3 3\n5 2\n");
  WriteText(scratch_.File("both.v"), "1\n2\n3\n4\n5\n");
  for (std::string* const graph : {&graph_, &by_degree_}) {
    const CommandEnd end =
        RunSlimgraph({"convert", scratch_.File("both.el"), *graph, "--directed", "--from", "snap",
                      "--vertices", scratch_.File("both.v"), "--self-loops", "keep", "--order",
                      graph == &graph_ ? "ids" : "degree"});
    ASSERT_EQ(end.code, 0) << end.err;
  }
  ExpectOutput({"cdlp", "--iterations", "1"}, "1 2\n2 1\n3 3\n4 4\n5 2\n");
  ExpectOutput({"cdlp", "--iterations", "2"}, "1 1\n2 2\n3 3\n4 4\n5 1\n");
  ExpectOutput({"kcore"}, "1 1\n2 1\n3 1\n4 0\n5 1\n");
}

TEST_F(VertexCommands, CountVerticesByHops) {
  for (const char* const nodes : {"1", "3"}) {
    const CommandEnd end =
        RunSlimgraph({"khop", graph_, "--source", "10", "--hops", "7", "--json", "--nodes", nodes,
                      "--compute", nodes[0] == '1' ? "1" : "2"});
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_NE(end.out.find("\"reached_at\":[1,2,1]"), std::string::npos) << end.out;
    EXPECT_NE(end.out.find("\"reached\":4,"), std::string::npos) << end.out;
  }
}

TEST_F(VertexCommands, RefuseWhatTheyCannotDo) {
  WriteText(scratch_.File("negative.wel"), "1 2 3\n2 3 -1\n");
  const std::string negative = scratch_.File("negative.slim");
  ASSERT_EQ(RunSlimgraph(
                {"convert", scratch_.File("negative.wel"), negative, "--undirected", "--weighted"})
                .code,
            0);
  const std::string no_reverse = scratch_.File("no-reverse.slim");
  ASSERT_EQ(RunSlimgraph({"convert", graph_, no_reverse, "--no-reverse", "--drop-weights"}).code,
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
      {{"khop", graph_, "--source", "10"}, 2, "khop needs --hops K"},
      {{"pagerank", graph_, "--source", "11"}, 3, "source 11 is no vertex of the graph"},
      {{"sssp", negative, "--source", "1"}, 3, "negative weight"},
      {{"bfs", graph_, "--source", "10", "--nodes", "2", "--compute", "3"}, 2, "--compute 3"},
      {{"bc", graph_}, 2, "--sources"},
      {{"cdlp", no_reverse, "--iterations", "1"}, 3, "has no incoming lists"},
      {{"kcore", no_reverse, "--nodes", "2"}, 3, "has no incoming lists"},
      {{"cc", graph_, "--edge-cache", "120%"}, 2, "120%"},
      {{"cc", graph_, "--edge-cache", "1", "--nodes", "4", "--compute", "2"},
       3,
       "--edge-cache 1 B has no room for the longest list of node"},
      {{"cc", graph_, "--memory-side", "both"}, 2, "--memory-side"},
      {{"pagerank", graph_, "--precision", "float", "--tolerance", "1e-3"}, 2, "--tolerance"},
      {{"cc", graph_, "--output", scratch_.File("no/such/folder")}, 4, "no/such/folder"},
  };
  for (const Case& one : cases) {
    const CommandEnd end = RunSlimgraph(one.words);
    EXPECT_EQ(end.code, one.code) << end.err;
    EXPECT_NE(end.err.find(one.says), std::string::npos) << end.err;
  }
}

TEST_F(VertexCommands, GiveTheSameResultWithServingMemoryNodesOnAllTransports) {
  const std::string kron = scratch_.File("kron.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "10", "--weights", "1..255", "-o", kron}).code, 0);
  for (const char* const transport : {"shm", "tcp", "mpi"}) {
    for (const char* const side : {"strict", "serve", "reduce"}) {
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

TEST_F(VertexCommands, FindShortestPathsWithBucketsOfAnyWidth) {
  for (const char* const weights : {"int32", "float64"}) {
    const std::string kron = scratch_.File(std::string(weights) + ".slim");
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "9", "--weights", "1..255", "-o", kron}).code, 0);
    if (std::string(weights) == "float64") {
      WriteText(scratch_.File("reals.wel"), "1 2 0.5\n2 3 1e300\n1 4 1e-300\n4 3 2e300\n3 5 0\n");
      ASSERT_EQ(
          RunSlimgraph({"convert", scratch_.File("reals.wel"), kron, "--undirected", "--weighted"})
              .code,
          0);
    }
    for (const char* const delta :
         {"1e-320", "1e-30", "0.25", "1", "4294967295", "9.3e18", "1.9e19", "1e30", "1.7e308"}) {
      for (const char* const nodes : {"1", "3"}) {
        const CommandEnd end = RunSlimgraph({"sssp", kron, "--source", "1", "--delta", delta,
                                             "--nodes", nodes, "--compute", "1", "--verify"});
        EXPECT_EQ(end.code, 0) << weights << ' ' << delta << ' ' << end.err;
      }
    }
  }
}

class MemoryOf : public VertexCommands {
 protected:
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "16", "--weights", "1..99", "-o", kron_}).code, 0);
  }

  static std::vector<double> Numbers(const std::string& report, const std::string& name) {
    std::vector<double> found;
    std::istringstream text(report.substr(report.find("\"" + name + "\":[") + name.size() + 4));
    char comma = ',';
    for (double number = 0; comma == ',' && text >> number; text >> comma) found.push_back(number);
    return found;
  }

  // Expects that no node uses more memory than announced. If a run visits all lists, expects that
  // nodes do not use much less either.
  void ExpectHeld(std::vector<std::string> words, bool visits_all) const {
    constexpr double kSlack = 8 << 20;
    words.insert(words.begin() + 1, kron_);
    words.emplace_back("--json");
    const CommandEnd end = RunSlimgraph(words);
    ASSERT_EQ(end.code, 0) << end.err;
    const auto announced = Numbers(end.out, "announced_bytes");
    const auto peak = Numbers(end.out, "peak_bytes");
    ASSERT_EQ(announced.size(), peak.size()) << end.out;
    std::string all;
    for (const std::string& word : words) all += word + ' ';
    for (std::size_t node = 0; node < peak.size(); ++node) {
      EXPECT_LE(peak[node], 1.1 * announced[node] + kSlack) << all << "on node " << node;
      if (!visits_all) continue;
      EXPECT_LE(announced[node], 2 * peak[node]) << all << "on node " << node;
    }
  }

  std::string kron_ = scratch_.File("kron.slim");
};

TEST_F(MemoryOf, VertexCommandsIsWhatTheyAnnounced) {
  for (const auto& [nodes, compute] :
       {std::pair{"1", "1"}, {"2", "1"}, {"4", "1"}, {"4", "2"}, {"4", "4"}}) {
    const auto on = [&, nodes = nodes, compute = compute](std::vector<std::string> words) {
      words.insert(words.end(), {"--nodes", nodes, "--compute", compute});
      return words;
    };
    ExpectHeld(on({"bfs", "--source", "1"}), false);
    ExpectHeld(on({"sssp", "--source", "1"}), false);
    ExpectHeld(on({"pagerank"}), true);
    ExpectHeld(on({"pagerank", "--cache", "none"}), true);
    ExpectHeld(on({"pagerank", "--mode", "push", "--edge-cache", "5%"}), true);
    ExpectHeld(on({"pagerank", "--memory-side", "serve", "--transport", "tcp"}), true);
    ExpectHeld(on({"pagerank", "--memory-side", "reduce"}), true);
    ExpectHeld(on({"pagerank", "--memory-side", "auto", "--precision", "float"}), true);
    ExpectHeld(on({"bc", "--sources", "1", "--memory-side", "reduce"}), false);
    ExpectHeld(on({"cc"}), true);
    ExpectHeld(on({"bc", "--sources", "1,2"}), true);
    ExpectHeld(on({"cdlp"}), true);
    ExpectHeld(on({"cdlp", "--mode", "push", "--threads", "3"}), true);
    ExpectHeld(on({"kcore"}), true);
    ExpectHeld(on({"mis"}), true);
    ExpectHeld(on({"scan"}), true);
    ExpectHeld(on({"scan", "--transport", "tcp", "--threads", "2"}), true);
  }
}

// To verify, node 0 reads the whole graph once more.
TEST_F(MemoryOf, AVerificationIsAnnounced) {
  ExpectHeld({"sssp", "--source", "1", "--verify", "--nodes", "4", "--compute", "2"}, false);
}

// A job is also refused when the command's own buffers do not fit, not only the graph.
TEST_F(MemoryOf, OfACommandsOwnBuffersMustFit) {
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, kron_);
    return RunSlimgraph(words);
  };
  const auto expect_refused = [](const CommandEnd& end) {
    EXPECT_EQ(end.code, 4) << end.out;
    EXPECT_NE(end.err.find("a node may hold 24.0 MiB"), std::string::npos) << end.err;
  };
  ASSERT_EQ(::setenv("SLIMGRAPH_NODE_MEMORY", std::to_string(24 << 20).c_str(), 1), 0);
  const CommandEnd computed = run({"sssp", "--source", "1"});
  EXPECT_EQ(computed.code, 0) << computed.err;
  expect_refused(run({"sssp", "--source", "1", "--verify"}));
  const std::vector<std::string> scan = {"scan", "--nodes", "2", "--compute", "1"};
  const CommandEnd scanned = run(scan);
  EXPECT_EQ(scanned.code, 0) << scanned.err;
  std::vector<std::string> with_many_threads = scan;
  with_many_threads.insert(with_many_threads.end(), {"--threads", "32"});
  expect_refused(run(with_many_threads));
  ASSERT_EQ(::unsetenv("SLIMGRAPH_NODE_MEMORY"), 0);
}

// Programs that need most lists once, and many of them never, must not read more for the edge
// cache.
TEST(ListsInTheEdgeCache, AreWorthTheirBytes) {
  const ScratchDirectory scratch;
  const auto make = [&](const char* kind, std::vector<std::string> words) {
    const std::string path = scratch.File(std::string(kind) + ".slim");
    words.insert(words.begin(), {"gen", kind});
    words.insert(words.end(), {"-o", path});
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 0) << end.err;
    return path;
  };
  const auto bytes = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--nodes", "4", "--compute", "1", "--json"});
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 0) << end.err;
    const auto report = ParseJson(end.out, "the report");
    return report ? report->NumberAt("/traffic/bytes").value_or(-1) : -1;
  };
  const auto without = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--edge-cache", "0"});
    return bytes(words);
  };
  const std::string kron = make("kron", {"-s", "13"});
  const std::string uniform = make("uniform", {"-s", "15"});
  const std::string grid = make("grid", {"--width", "90", "--height", "90"});
  const std::vector<std::string> components = {"cc", kron};
  EXPECT_GT(without(components), 0);
  EXPECT_LE(bytes(components), 1.05 * without(components));
  EXPECT_LT(4 * bytes(components), bytes({"pagerank", kron, "--iterations", "2"}));
  const std::vector<std::string> search = {"bfs", uniform, "--source", "1"};
  EXPECT_LE(bytes(search), 1.2 * without(search));
  EXPECT_LE(bytes(search), .8 * bytes({"pagerank", uniform, "--iterations", "1"}));
  const std::vector<std::string> steps = {"bfs", grid, "--source", "1"};
  EXPECT_LE(3 * bytes(steps), without(steps));
  // What is computed again needs its lists again.
  const std::vector<std::string> again = {"bfs", uniform, "--source", "1", "--repeat", "2"};
  EXPECT_EQ(bytes(again), 0);
}

}  // namespace
}  // namespace slimgraph
