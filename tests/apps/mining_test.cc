// The output of the mining commands on a small graph with known counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>

#include "slimgraph/stats/json_value.h"
#include "tests/support/command.h"
#include "tests/support/sanitized.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

//   10 --- 20        a square with both diagonals, one more triangle on it,
//    | \ / | \       and a tail
//    | / \ |  60
//   30 --- 40 /
//    |
//   50
constexpr const char* kEdges = "10 20\n10 30\n10 40\n20 30\n20 40\n30 40\n20 60\n40 60\n30 50\n";

class Mining : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteText(scratch_.File("edges.txt"), kEdges);
    graph_ = scratch_.File("graph.slim");
    ASSERT_EQ(Convert(graph_, "--undirected").code, 0);
  }

  CommandEnd Convert(const std::string& out, const char* kind) const {
    return RunSlimgraph({"convert", scratch_.File("edges.txt"), out, "--from", "snap", kind});
  }

  static void Refuses(std::vector<std::string> words, int code, const std::string& why) {
    const CommandEnd end = RunSlimgraph(std::move(words));
    EXPECT_EQ(end.code, code) << end.err;
    EXPECT_NE(end.err.find(why), std::string::npos) << end.err;
    EXPECT_EQ(end.out, "");
  }

  ScratchDirectory scratch_;
  std::string graph_;
};

TEST_F(Mining, EveryCommandReportsItsCountsOnAnyNodes) {
  for (const auto& [nodes, compute] : {std::pair{"1", "1"}, {"4", "4"}, {"4", "2"}, {"4", "1"}}) {
    const auto says = [&](std::vector<std::string> words, const std::string& what) {
      words.insert(words.end(), {"--nodes", nodes, "--compute", compute, "--json"});
      const CommandEnd end = RunSlimgraph(words);
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_NE(end.out.find(what), std::string::npos) << end.out;
    };
    says({"triangles", graph_}, R"("result":{"count":5})");
    says({"cliques", graph_, "-k", "4"}, R"("result":{"count":1})");
    says({"match", graph_, "--pattern", "house"}, R"("result":{"count":6})");
    says({"ktruss", graph_, "-k", "4"},
         R"("result":{"largest_truss":4,"largest_truss_edges":6,"rounds":)");
    says({"ktruss", graph_, "-k", "3", "--verify"}, R"("count":8)");
    says({"motifs", graph_, "-k", "3"}, R"("result":{"counts":{"triangle":5,"wedge":7}})");
  }
}

TEST_F(Mining, TransportsAgree) {
  for (const char* const transport : {"shm", "tcp", "mpi"}) {
    for (const auto& [fetch, steal] : {std::pair{"request", "on"}, {"read", "off"}}) {
      const CommandEnd end = RunSlimgraph({"match",
                                           graph_,
                                           "--pattern",
                                           "diamond",
                                           "--no-formulae",
                                           "--nodes",
                                           "3",
                                           "--compute",
                                           "2",
                                           "--threads",
                                           "4",
                                           "--chunk-memory",
                                           "0",
                                           "--edge-cache",
                                           "0",
                                           "--transport",
                                           transport,
                                           "--fetch",
                                           fetch,
                                           "--steal",
                                           steal});
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_EQ(end.out.find("diamond: 8\n"), 0U) << transport << ": " << end.out;
    }
  }
}

TEST_F(Mining, ComputeNodesAskEachOtherAndReadMemoryNodes) {
  const auto bytes_of = [&](const char* compute, const char* fetch) {
    const CommandEnd end = RunSlimgraph({"triangles", graph_, "--nodes", "3", "--compute", compute,
                                         "--fetch", fetch, "--steal", "off", "--json"});
    const JsonValue report = Unwrap(ParseJson(end.out, "a job"));
    return [report](const char* kind) {
      return report.NumberAt(fmt::format("/traffic/by_kind/{}/bytes", kind)).value();
    };
  };
  const auto all_ask = bytes_of("3", "request");
  EXPECT_GT(all_ask("write"), 0);
  EXPECT_EQ(all_ask("read"), 0);
  const auto both = bytes_of("2", "request");
  EXPECT_GT(both("write"), 0);
  EXPECT_GT(both("read"), 0);
  const auto all_read = bytes_of("2", "read");
  EXPECT_GT(all_read("read"), 0);
  EXPECT_EQ(all_read("write"), 0);
}

TEST_F(Mining, ListedEmbeddingsAreInOriginalIdsAndNoMoreThanTheLimit) {
  const std::string out = scratch_.File("triangles.txt");
  const auto listed = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"match",   graph_, "--pattern", "triangle", "--list",    out,
                                      "--nodes", "3",    "--compute", "2",        "--threads", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 0) << end.err;
    std::set<std::set<int>> triangles;
    std::istringstream lines(ReadText(out));
    for (std::string line; std::getline(lines, line);) {
      if (line[0] == '#') continue;
      std::istringstream words_of_line(line);
      std::set<int> ids;
      for (int id = 0; words_of_line >> id;) ids.insert(id);
      triangles.insert(ids);
    }
    return triangles;
  };
  const std::set<std::set<int>> all = {
      {10, 20, 30}, {10, 20, 40}, {10, 30, 40}, {20, 30, 40}, {20, 40, 60}};
  EXPECT_EQ(listed({}), all);
  EXPECT_EQ(listed({"--limit", "2"}).size(), 2U);
  EXPECT_EQ(listed({"--limit", "100"}), all);
}

TEST_F(Mining, AnIncompleteListLeavesNoFile) {
  const std::string large = scratch_.File("large.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "12", "-o", large}).code, 0);
  const std::string out = scratch_.File("paths.txt");
  WriteText(out, "what was there");
  const auto files = [&] {
    const auto all = std::filesystem::directory_iterator(scratch_.path());
    return std::distance(begin(all), end(all));
  };
  const auto files_before = files();
  RunningCommand command({CommandPath(), "match", large, "--pattern", "7-path", "--list", out,
                          "--nodes", "3", "--compute", "2"});
  ASSERT_TRUE(command.AwaitError("the job takes"));
  const auto node = command.NodeProcess(1);
  ASSERT_TRUE(node);
  ASSERT_EQ(::kill(*node, SIGKILL), 0);
  EXPECT_EQ(command.Wait().code, 4);
  EXPECT_EQ(ReadText(out), "what was there");
  EXPECT_EQ(files(), files_before);
}

TEST_F(Mining, ALongListOfSeveralNodesHasEveryEmbeddingOnce) {
  const std::string large = scratch_.File("large.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "10", "-o", large}).code, 0);
  const std::string out = scratch_.File("listed.txt");
  std::set<std::string> once;
  for (const char* const compute : {"1", "3"}) {
    const CommandEnd end =
        RunSlimgraph({"match", large, "--pattern", "triangle", "--list", out, "--nodes", "3",
                      "--compute", compute, "--threads", "2", "--fetch", "read"});
    ASSERT_EQ(end.code, 0) << end.err;
    std::istringstream lines(ReadText(out));
    std::multiset<std::string> all;
    for (std::string line; std::getline(lines, line);) all.insert(line);
    EXPECT_EQ(end.out.find("triangle: " + std::to_string(all.size() - 1) + " listed"), 0U);
    const std::set<std::string> distinct(all.begin(), all.end());
    EXPECT_EQ(distinct.size(), all.size());
    EXPECT_TRUE(once.empty() || distinct == once);
    once = distinct;
  }
}

TEST_F(Mining, MemoryIsAnnouncedAndKept) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  const auto numbers = [](const std::string& json, const std::string& name) {
    std::vector<double> found;
    std::istringstream list(json.substr(json.find(name) + name.size()));
    char between = '[';
    for (double number = 0; between != ']' && list >> number;) {
      found.push_back(number);
      list >> between;
    }
    return found;
  };
  const std::string large = scratch_.File("large.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "16", "-o", large}).code, 0);
  using Nodes = std::pair<const char*, const char*>;
  const auto holds = [&](const Nodes& nodes, std::vector<std::string> words) {
    words.insert(words.begin() + 1, large);
    words.insert(words.end(), {"--nodes", nodes.first, "--compute", nodes.second, "--json"});
    const CommandEnd end = RunSlimgraph(words);
    ASSERT_EQ(end.code, 0) << end.err;
    const auto announced = numbers(end.out, "\"announced_bytes\":[");
    const auto peak = numbers(end.out, "\"peak_bytes\":[");
    ASSERT_EQ(announced.size(), peak.size()) << end.out;
    ASSERT_FALSE(peak.empty()) << end.out;
    for (std::size_t node = 0; node < peak.size(); ++node) {
      EXPECT_LE(peak[node], 1.1 * announced[node] + (8 << 20)) << end.out;
      EXPECT_LE(announced[node], 2 * peak[node]) << end.out;
    }
  };
  for (const Nodes& nodes : {Nodes{"1", "1"}, {"3", "1"}, {"3", "2"}, {"3", "3"}}) {
    holds(nodes, {"triangles"});
    holds(nodes, {"cliques", "-k", "4"});
    holds(nodes, {"motifs", "-k", "4"});
    holds(nodes, {"match", "--pattern", "diamond"});
    holds(nodes, {"local", "--triangles", "-o", scratch_.File("local.txt")});
    holds(nodes, {"lcc", "--verify"});
  }
  // With small partitions, buffers sized for the worst case dominate.
  holds({"4", "4"}, {"match", "--pattern", "diamond"});
  holds({"4", "4"}, {"match", "--pattern", "4-clique", "--no-formulae"});
}

TEST_F(Mining, LocalResultsUseOriginalIds) {
  const std::string out = scratch_.File("local.txt");
  const std::string by_degree = scratch_.File("by-degree.slim");
  ASSERT_EQ(RunSlimgraph({"convert", graph_, by_degree, "--order", "degree"}).code, 0);
  for (const std::string& graph : {graph_, by_degree}) {
    const auto local = [&](const char* what) {
      const CommandEnd end = RunSlimgraph({"local", graph, what, "--output", out, "--nodes", "2"});
      EXPECT_EQ(end.code, 0) << end.err;
      return ReadText(out);
    };
    EXPECT_EQ(local("--triangles"), "10 3\n20 4\n30 3\n40 4\n50 0\n60 1\n");
    EXPECT_EQ(local("--clustering").substr(0, 5), "10 1\n");
  }
}

TEST_F(Mining, TrussnessIsWrittenForEachEdgeInTheOrderOfOriginalIds) {
  const std::string all =
      "10 20 4\n10 30 4\n10 40 4\n20 30 4\n20 40 4\n20 60 3\n30 40 4\n"
      "30 50 2\n40 60 3\n";
  const std::string by_degree = scratch_.File("by-degree.slim");
  ASSERT_EQ(RunSlimgraph({"convert", graph_, by_degree, "--order", "degree"}).code, 0);
  for (const std::string& graph : {graph_, by_degree}) {
    for (const char* const nodes : {"1", "3"}) {
      const auto write = [&](const char* name, const char* k) {
        const CommandEnd end =
            RunSlimgraph({"ktruss", graph, "-k", k, "--nodes", nodes, "--compute", "1", "--verify",
                          "--output", scratch_.File(name)});
        EXPECT_EQ(end.code, 0) << end.err;
        return ReadText(scratch_.File(name));
      };
      EXPECT_EQ(write("t.txt", "2"), all);
      EXPECT_EQ(write("t.csv", "3").substr(0, 31), "src,dst,trussness\n10,20,4\n10,30");
      EXPECT_EQ(write("none.txt", "5"), "");
      const std::string npy = write("t.npy", "4");
      EXPECT_NE(npy.find("{'descr': [('src', '<u8'), ('dst', '<u8'), ('trussness', '<i8')], "
                         "'fortran_order': False, 'shape': (6,), }"),
                std::string::npos);
      EXPECT_EQ(npy.size() % 64, 6 * 24 % 64U);
      EXPECT_EQ(npy.substr(npy.size() - 24, 1) + npy.substr(npy.size() - 16, 1) +
                    npy.substr(npy.size() - 8, 1),
                std::string("\x1e\x28\x04"));
    }
  }
  const CommandEnd several =
      RunSlimgraph({"run", graph_, "ktruss:k=3", "triangles",
                    "truss:output=" + scratch_.File("r.txt"), "--nodes", "3", "--compute", "2"});
  EXPECT_EQ(several.code, 0) << several.err;
  EXPECT_NE(several.out.find("the 3-truss has 8 edges"), std::string::npos) << several.out;
  EXPECT_EQ(ReadText(scratch_.File("r.txt")), all);
}

//   1 <-> 2 --> 3 --> 1    3 --> 4    1 --> 4    5 --> 4
TEST_F(Mining, ClusteringCountsArcsInEachDirection) {
  const std::string edges = scratch_.File("arcs.el");
  const std::string out = scratch_.File("lcc.txt");
  WriteText(edges, "1 2\n2 1\n2 3\n3 1\n3 4\n1 4\n5 4\n");
  for (const char* const order : {"ids", "degree"}) {
    const std::string graph = scratch_.File(std::string(order) + ".slim");
    ASSERT_EQ(RunSlimgraph({"convert", edges, graph, "--directed", "--order", order}).code, 0);
    for (const char* const nodes : {"1", "4"}) {
      for (const std::vector<std::string>& words :
           {std::vector<std::string>{"lcc"}, {"local", "--clustering"}}) {
        std::vector<std::string> all = words;
        all.insert(all.begin() + 1, graph);
        all.insert(all.end(), {"--output", out, "--verify", "--nodes", nodes, "--compute",
                               nodes[0] == '1' ? "1" : "2"});
        const CommandEnd end = RunSlimgraph(all);
        EXPECT_EQ(end.code, 0) << end.err;
        EXPECT_EQ(ReadText(out),
                  "1 0.3333333333333333\n2 0.5\n3 0.5\n4 0.16666666666666666\n5 0\n");
      }
      EXPECT_EQ(
          RunSlimgraph({"local", graph, "--triangles", "--output", out, "--nodes", nodes}).code, 3);
    }
    const std::string no_reverse = scratch_.File("no-reverse.slim");
    ASSERT_EQ(RunSlimgraph({"convert", graph, no_reverse, "--no-reverse"}).code, 0);
    Refuses({"lcc", no_reverse}, 3, "has no incoming lists: convert it without --no-reverse");
  }
}

TEST_F(Mining, ExplainPrintsThePlanAndTheFormula) {
  const CommandEnd end = RunSlimgraph({"match", graph_, "--pattern", "4-cycle", "--explain"});
  EXPECT_EQ(end.code, 0);
  for (const char* const part : {"plan for 4-cycle: 4 vertices, 4 edges, edge-induced", "above v0",
                                 "formula: 4-cycles from"}) {
    EXPECT_NE(end.out.find(part), std::string::npos) << end.out;
  }
}

TEST_F(Mining, ErrorsAreOneLine) {
  Refuses({"cliques", graph_, "-k", "9"}, 2, "-k: 9 is out of range: 3..8");
  Refuses({"cliques", graph_}, 2, "cliques needs -k K: the vertices of a clique, 3..8");
  Refuses({"motifs", graph_, "-k", "5"}, 2, "-k: 5 is out of range: 3..4");
  Refuses({"ktruss", graph_, "-k", "1"}, 2, "-k: 1 is out of range: 2..");
  Refuses({"ktruss", graph_, "--output", scratch_.File("no/such")}, 4, "no/such");
  Refuses({"match", graph_}, 2,
          "match needs --pattern FILE|EDGES|NAME: an edge list, in a file or such as 0-1,1-2,2-3, "
          "or one of edge, wedge");
  Refuses({"match", graph_, "--pattern", "house", "--limit", "3"}, 2, "--limit needs --list");
  Refuses({"match", graph_, "--pattern", "hous"}, 3, "no pattern and no file is called 'hous'");
  Refuses({"match", graph_, "--pattern", "house", "--list", "/dev/null"}, 2, "not a regular file");
  Refuses({"match", graph_, "--pattern", "house", "--list", "/nowhere/x"}, 4, "/nowhere/x");
  Refuses({"triangles", graph_, "--fetch", "ask"}, 2, "expected request|read, found 'ask'");
  Refuses({"triangles", graph_, "--steal", "yes"}, 2, "expected on|off, found 'yes'");
  const auto pattern = [&](const std::string& edges) {
    WriteText(scratch_.File("pattern.txt"), edges);
    return scratch_.File("pattern.txt");
  };
  Refuses({"match", graph_, "--pattern", pattern("1 2\n3 4\n")}, 3, "is not connected");
  Refuses({"match", graph_, "--pattern", pattern("1 1\n")}, 3, "an edge to itself");
  Refuses({"match", graph_, "--pattern", pattern("one two\n")}, 3, "pattern.txt:1: expected");
  Refuses({"match", graph_, "--pattern", pattern("1 2\n1 3\n1 4\n1 5\n1 6\n1 7\n1 8\n1 9\n")}, 3,
          "9 vertices, and at most 8");
  WriteText(scratch_.File("nobody.txt"), "");
  const std::string empty = scratch_.File("empty.slim");
  ASSERT_EQ(RunSlimgraph({"convert", scratch_.File("nobody.txt"), empty, "--from", "gemini",
                          "--vertex-count", "0", "--undirected"})
                .code,
            0);
  Refuses({"triangles", empty}, 3, "the graph is empty");
  Refuses({"match", empty, "--pattern", "house", "--nodes", "3"}, 3, "the graph is empty");
  Refuses({"local", graph_, "--output", "x"}, 2, "local needs --triangles or --clustering");
  Refuses({"local", graph_, "--triangles", "--output", scratch_.File("no/such")}, 4, "no/such");
  const std::string directed = scratch_.File("directed.slim");
  ASSERT_EQ(Convert(directed, "--directed").code, 0);
  Refuses({"triangles", directed}, 3, "OUT.slim --symmetrize");
  Refuses({"ktruss", directed}, 3, "OUT.slim --symmetrize");
  Refuses({"triangles", directed, "--nodes", "3"}, 3, "OUT.slim --symmetrize");
}

TEST_F(Mining, CodedListsGiveTheSameCounts) {
  const std::string coded = scratch_.File("coded.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "8", "-k", "6", "--self-loops", "keep",
                          "--duplicates", "keep", "--coded", "-o", coded})
                .code,
            0);
  for (const auto& [nodes, compute] :
       {std::pair{"1", "1"}, {"3", "1"}, {"4", "1"}, {"4", "2"}, {"4", "4"}}) {
    for (std::vector<std::string> words : {std::vector<std::string>{"triangles"},
                                           {"cliques", "-k", "4"},
                                           {"motifs", "-k", "3"},
                                           {"match", "--pattern", "diamond"},
                                           {"ktruss", "-k", "3"},
                                           {"lcc"}}) {
      words.insert(words.begin() + 1, coded);
      words.insert(words.end(), {"--nodes", nodes, "--compute", compute, "--verify", "--json"});
      const CommandEnd end = RunSlimgraph(words);
      EXPECT_EQ(end.code, 0) << words[0] << " on " << nodes << ", " << compute << ": " << end.err;
      EXPECT_NE(end.out.find(R"("verified":true)"), std::string::npos) << end.out;
    }
  }
  const CommandEnd checked = RunSlimgraph({"info", coded, "--check"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.out.find("of coded lists\n"), std::string::npos) << checked.out;
}

TEST_F(Mining, ConvertKeepsCodedListsOnlyIfAsked) {
  const std::string coded = scratch_.File("coded.slim");
  const std::string plain = scratch_.File("plain.slim");
  const auto coded_bytes = [](const std::string& path) {
    const std::string json = RunSlimgraph({"info", path, "--json"}).out;
    const std::size_t at = json.find("\"coded_bytes\":");
    return at == std::string::npos ? -1 : std::stoi(json.substr(at + 14));
  };
  ASSERT_EQ(RunSlimgraph({"convert", graph_, coded, "--coded"}).code, 0);
  ASSERT_EQ(RunSlimgraph({"convert", coded, plain}).code, 0);
  EXPECT_GT(coded_bytes(coded), 0);
  EXPECT_EQ(coded_bytes(plain), 0);
  EXPECT_EQ(ReadText(plain), ReadText(graph_));
}

TEST_F(Mining, CodedListsOfADirectedGraphAreRefused) {
  const std::string out = scratch_.File("coded.slim");
  Refuses({"convert", scratch_.File("edges.txt"), out, "--directed", "--coded"}, 2,
          "--coded keeps lists for mining, and patterns are mined in undirected graphs");
  Refuses({"gen", "kron", "-s", "5", "--directed", "--coded", "-o", out}, 2, "undirected");
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace slimgraph
