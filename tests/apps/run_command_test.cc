// `slimgraph run`: each part gives what its own command gives, and each engine loads once.
#include <gtest/gtest.h>

#include <algorithm>

#include "slimgraph/stats/json_value.h"
#include "tests/support/command.h"

namespace slimgraph {
namespace {

class RunCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "9", "--weights", "1..9", "-o", graph_}).code, 0);
  }
  static std::size_t CountOf(const std::string& what, const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++count;
    }
    return count;
  }
  static JsonValue ObjectOf(const CommandEnd& end) {
    EXPECT_EQ(end.code, 0) << end.err;
    const auto object = ParseJson(end.out, "the output");
    EXPECT_TRUE(object) << end.out;
    return object ? *object : JsonValue();
  }

  ScratchDirectory scratch_;
  std::string graph_ = scratch_.File("g.slim");
};

TEST_F(RunCommands, GiveTheResultsOfTheSingleCommands) {
  const auto alone = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, graph_);
    words.emplace_back("--json");
    return ObjectOf(RunSlimgraph(words));
  };
  const JsonValue bfs = alone({"bfs", "--source", "1", "--output", scratch_.File("b1")});
  const JsonValue sssp = alone({"sssp", "--source", "2", "--output", scratch_.File("s1")});
  const JsonValue centrality = alone({"bc", "--sources", "1,2,3"});
  const JsonValue triangles = alone({"triangles"});
  const JsonValue cliques = alone({"cliques", "-k", "4"});
  const JsonValue house = alone({"match", "--pattern", "house"});
  ASSERT_EQ(RunSlimgraph({"local", graph_, "--clustering", "-o", scratch_.File("c1")}).code, 0);
  for (const auto& [nodes, compute] : {std::pair("1", "1"), {"4", "2"}, {"3", "1"}}) {
    const CommandEnd end = RunSlimgraph(
        {"run", graph_, "bfs:source=1,output=" + scratch_.File("b2"), "cliques:k=4",
         "sssp:source=2,output=" + scratch_.File("s2"), "betweenness:sources=1,2,3", "triangles",
         "local:clustering,output=" + scratch_.File("c2"), "match:pattern=house", "pagerank",
         "--verify", "--nodes", nodes, "--compute", compute, "--json"});
    const JsonValue report = ObjectOf(end);
    EXPECT_EQ(report.TextAt("/parts/3/part"), "betweenness:sources=1,2,3");
    EXPECT_EQ(report.NumberAt("/parts/0/result/reached"), bfs.NumberAt("/result/reached"));
    EXPECT_EQ(report.NumberAt("/parts/1/result/count"), cliques.NumberAt("/result/count"));
    EXPECT_EQ(report.NumberAt("/parts/2/result/farthest"), sssp.NumberAt("/result/farthest"));
    EXPECT_NEAR(report.NumberAt("/parts/3/result/highest").value_or(-1),
                centrality.NumberAt("/result/highest").value_or(0), 1e-6);
    EXPECT_EQ(report.NumberAt("/parts/4/result/count"), triangles.NumberAt("/result/count"));
    EXPECT_EQ(report.NumberAt("/parts/5/result/count"), triangles.NumberAt("/result/count"));
    EXPECT_EQ(report.NumberAt("/parts/6/result/count"), house.NumberAt("/result/count"));
    EXPECT_NEAR(report.NumberAt("/parts/7/result/sum").value_or(0), 1, 1e-9);
    for (const char* const vertex_part : {"0", "2", "3", "7"}) {
      EXPECT_TRUE(report.IsTrue(std::string("/parts/") + vertex_part + "/verified")) << vertex_part;
    }
    EXPECT_EQ(report.NumberAt("/parts/1/options/k"), 4);
    EXPECT_EQ(report.NumberAt("/parts/7/options/iterations"), 20);
    EXPECT_EQ(CountOf("the job takes", end.err), 2U) << "each engine loads once";
    for (const char* const output : {"b", "s", "c"}) {
      EXPECT_EQ(ReadText(scratch_.File(std::string(output) + "1")),
                ReadText(scratch_.File(std::string(output) + "2")))
          << output;
    }
  }
  const CommandEnd one_engine = RunSlimgraph({"run", graph_, "pagerank", "cc", "--nodes", "2"});
  EXPECT_EQ(one_engine.code, 0);
  EXPECT_EQ(CountOf("the job takes", one_engine.err), 1U) << one_engine.err;
  EXPECT_NE(one_engine.out.find("pagerank\n  20 iterations"), std::string::npos) << one_engine.out;
}

TEST_F(RunCommands, RefuseWhatTheyCannotDoInOneLine) {
  const auto says = [&](const std::vector<std::string>& parts, const std::string& what) {
    std::vector<std::string> words = {"run", graph_};
    words.insert(words.end(), parts.begin(), parts.end());
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 2) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    EXPECT_NE(end.err.find(what), std::string::npos) << end.err;
  };
  says({}, "run needs WHAT");
  says({"gen"}, "'gen' is no command on a graph; there are bfs, khop,");
  says({"bfs"}, "bfs needs source, as in bfs:source=…");
  says({"bfs:sorce=1"}, "bfs has no option 'sorce': it has source, output");
  says({"bfs:source=x"}, "bfs: source: expected a whole number of at least 0, found 'x'");
  says({"bfs:source"}, "bfs: source takes a value");
  says({"local"}, "local needs triangles or clustering, as in local:triangles");
  says({"local:clustering=1"}, "local: clustering takes no value");
  says({"local:clustering,triangles"}, "exclude each other");
  says({"match:pattern=house,limit=3"}, "match: limit needs list");
  says({"bc:sources=1,seed=2"}, "bc: seed needs random");
  says({"pagerank:output=-", "--json"}, "both write to standard output");
}

}  // namespace
}  // namespace slimgraph
