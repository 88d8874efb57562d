// `slimgraph txn run` on a store.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/support/command.h"
#include "tests/support/sanitized.h"

namespace slimgraph {
namespace {

class StoreWorkloads : public ::testing::Test {
 protected:
  void SetUp() override { Create({}); }
  void Create(const std::vector<std::string>& direction) {
    std::filesystem::remove_all(store_);
    std::vector<std::string> gen = {"gen", "kron", "-s", "10", "-o", scratch_.File("g.slim")};
    gen.insert(gen.end(), direction.begin(), direction.end());
    ASSERT_EQ(RunSlimgraph(gen).code, 0);
    const CommandEnd made =
        RunSlimgraph({"store", "create", scratch_.File("g.slim"), "--vertex-bytes", "128",
                      "--edge-bytes", "8", "-o", store_});
    ASSERT_EQ(made.code, 0) << made.err;
    // The log has updates, so jobs load a merged image instead of the base.
    WriteText(scratch_.File("updates"), "+v 5000 0102\n+ 5000 1 03\n-v 2\n");
    ASSERT_EQ(RunSlimgraph({"store", "apply", store_, "--from", scratch_.File("updates")}).code, 0);
  }
  CommandEnd Run(const std::string& workload, const std::vector<std::string>& more,
                 const char* nodes = "2") const {
    std::vector<std::string> words = {"txn",     "run", "--workload", workload, "--store", store_,
                                      "--nodes", nodes, "--json",     "--rows", "20000"};
    words.insert(words.end(), more.begin(), more.end());
    return RunSlimgraph(words);
  }

  const ScratchDirectory scratch_;
  const std::string store_ = scratch_.File("store");
};

double Count(const CommandEnd& end, const std::string& name) {
  const std::size_t at = end.out.find("\"" + name + "\":");
  EXPECT_NE(at, std::string::npos) << name << " in " << end.out;
  return at == std::string::npos ? 0 : std::stod(end.out.substr(at + name.size() + 3));
}

// Each run verifies that every edge is in both lists, and that the counts match the commits.
TEST_F(StoreWorkloads, RunUnderAllProtocolsAndKeepEveryEdgeOnBothSides) {
  const std::pair<const char*, const char*> forms[] = {
      {"nowait", "rpc"}, {"waitdie", "01010"}, {"occ", "one-sided"}, {"to", "01101"},
      {"mvcc", "10101"}, {"sundial", "rpc"},   {"calvin", "1010"}};
  for (const char* const workload :
       {"linkbench", "tao", "snb-updates", "graph-churn", "edge-updates"}) {
    for (const auto& [protocol, stages] : forms) {
      const CommandEnd end = Run(workload, {"--protocol", protocol, "--stages", stages,
                                            "--transactions", "60", "--seconds", "10"});
      EXPECT_EQ(end.code, 0) << workload << " " << protocol << ": " << end.err;
      EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
    }
  }
}

TEST_F(StoreWorkloads, KeepTheSharesOfTheirMixes) {
  const std::vector<std::pair<const char*, double>> link_bench = {
      {"neighbours", 50.71},   {"get_vertex", 12.93}, {"add_edge", 8.99},    {"update_edge", 8.01},
      {"update_vertex", 7.37}, {"count", 4.89},       {"delete_edge", 2.99}, {"add_vertex", 2.57},
      {"delete_vertex", 1.01}, {"get_edge", 0.53}};
  const CommandEnd end =
      Run("linkbench", {"--protocol", "occ", "--transactions", "1000", "--seconds", "20"});
  ASSERT_EQ(end.code, 0) << end.err;
  const double all = Count(end, "committed");
  for (const auto& [name, percent] : link_bench) {
    // Within five standard deviations.
    const double expected = all * percent / 100;
    EXPECT_NEAR(Count(end, name), expected, 5 * std::sqrt(expected)) << name;
  }
}

TEST_F(StoreWorkloads, ContinueAfterANodeHasDied) {
  const CommandEnd end = Run("linkbench",
                             {"--protocol", "occ", "--transactions", "200", "--seconds", "20",
                              "--replicas", "2", "--die", "1@log:100"},
                             "3");
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("\"lost_nodes\":[1]"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
}

TEST_F(StoreWorkloads, WriteNoUpdatesWhenANodeHasDiedWithItsCommits) {
  const std::string updates = scratch_.File("changed");
  const CommandEnd end = Run("linkbench",
                             {"--protocol", "occ", "--transactions", "200", "--seconds", "20",
                              "--replicas", "2", "--die", "1@log:100", "--updates", updates},
                             "3");
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("not written: node 1 died"), std::string::npos) << end.err;
  EXPECT_FALSE(std::filesystem::exists(updates));
}

// Applying a run's updates to the store gives the graph that the run exports. The results of the
// last analysis equal those of the commands on that graph.
TEST_F(StoreWorkloads, ExportTheGraphOfTheirLastSnapshotAndTheUpdatesThatMakeIt) {
  const std::pair<const char*, bool> runs[] = {
      {"graph-churn", false}, {"linkbench", false}, {"graph-churn", true}, {"linkbench", true}};
  bool some_in_run = false;  // an analysis that ended before the run did
  for (const auto& [workload, directed] : runs) {
    if (directed) Create({"--directed", "--weights", "1..255"});
    if (!directed) Create({});
    const std::string out = scratch_.File("out.slim");
    const std::string updates = scratch_.File("changed");
    const std::string some = directed ? "sssp," : "triangles,cliques:4,ktruss,";
    const CommandEnd end =
        Run(workload,
            {"--protocol", "occ", "--compute", "2", "--seconds", "0.3", "--fold", "0.05",
             "--analytics", "pagerank,cc,cdlp:3,kcore,mis:7,lcc," + some + "bfs:1,bfs:4000000",
             "--export", out, "--updates", updates},
            "4");
    ASSERT_EQ(end.code, 0) << end.err;
    some_in_run = some_in_run || end.out.find("\"in_run\":true") != std::string::npos;
    EXPECT_NE(end.out.find("\"staleness_s\":"), std::string::npos) << end.out;

    const CommandEnd applied = RunSlimgraph({"store", "apply", store_, "--from", updates});
    ASSERT_EQ(applied.code, 0) << applied.err;
    const std::string exported = scratch_.File("exported.slim");
    ASSERT_EQ(RunSlimgraph({"store", "export", store_, "-o", exported}).code, 0);
    EXPECT_EQ(ReadText(out), ReadText(exported)) << workload;

    const auto last = [&](const char* name) {
      const std::size_t at = end.out.rfind("\"" + std::string(name) + "\":");
      return at == std::string::npos ? -1 : std::stod(end.out.substr(at + std::strlen(name) + 3));
    };
    EXPECT_EQ(last("components"), Count(RunSlimgraph({"cc", out, "--json"}), "components"));
    struct Other {
      const char* name;
      std::vector<std::string> words;
      std::vector<const char*> results;
    };
    std::vector<Other> others = {{"cdlp:3", {"cdlp", "--iterations", "3"}, {"communities"}},
                                 {"kcore", {"kcore"}, {"largest_core", "largest_core_vertices"}},
                                 {"mis:7", {"mis", "--seed", "7"}, {"members"}},
                                 {"lcc", {"lcc"}, {"mean_clustering"}}};
    if (!directed) {
      others.push_back({"ktruss", {"ktruss"}, {"largest_truss", "largest_truss_edges"}});
    }
    for (auto& [name, words, results] : others) {
      words.insert(words.end(), {out, "--verify", "--json"});
      const CommandEnd command = RunSlimgraph(words);
      EXPECT_EQ(command.code, 0) << name << ": " << command.err;
      CommandEnd rest = end;
      rest.out.erase(0, end.out.rfind(fmt::format("\"name\":\"{}\"", name)));
      for (const char* const result : results) {
        EXPECT_EQ(Count(rest, result), Count(command, result)) << workload << ", " << name;
      }
    }
    if (directed) {
      // Without a source, sssp starts at the first vertex.
      CommandEnd rest = end;
      rest.out.erase(0, end.out.rfind("\"name\":\"sssp\""));
      const std::string source = fmt::format("{:.0f}", Count(rest, "source"));
      const CommandEnd paths =
          RunSlimgraph({"sssp", out, "--source", source, "--json", "--verify"});
      EXPECT_EQ(paths.code, 0) << paths.err;
      EXPECT_EQ(last("farthest"), Count(paths, "farthest"));
    } else {
      EXPECT_EQ(last("count"), Count(RunSlimgraph({"cliques", "-k", "4", out, "--json"}), "count"));
    }
    EXPECT_EQ(last("reached"), 0) << "there is no vertex 4000000";
  }
  EXPECT_TRUE(some_in_run);
}

// Folds, replicas, logs, snapshots and the death of a node, all in one run. The second run of each
// kind recovers from the logs of the first.
TEST_F(StoreWorkloads, AreAnalysedAndFoldedWhileANodeDies) {
  const std::string out = scratch_.File("out.slim");
  const std::pair<const char*, bool> runs[] = {
      {"occ", false}, {"sundial", false}, {"sundial", true}, {"occ", true}};
  for (const auto& [protocol, directed] : runs) {
    const std::string logs = scratch_.File(directed ? "logs of the directed" : "logs");
    if (directed && !std::filesystem::exists(logs)) Create({"--directed", "--weights", "1..9"});
    const CommandEnd end = Run("graph-churn",
                               {"--protocol", protocol, "--seconds", "0.6", "--replicas", "2",
                                "--die", "1@commit:20", "--fold", "0.02", "--durable", logs,
                                "--analytics", directed ? "cc" : "cc,cliques:4", "--export", out},
                               "4");
    ASSERT_EQ(end.code, 0) << end.err;
    EXPECT_NE(end.out.find("\"lost_nodes\":[1]"), std::string::npos) << end.out;
    EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
    EXPECT_EQ(end.out.find("\"folds\":0,"), std::string::npos) << end.out;
    const auto last = [&](const char* name) {
      return end.out.substr(end.out.rfind("\"" + std::string(name) + "\":") + std::strlen(name) +
                            3);
    };
    EXPECT_EQ(std::stod(last("components")),
              Count(RunSlimgraph({"cc", out, "--json"}), "components"));
    if (directed) continue;
    EXPECT_EQ(std::stod(last("count")),
              Count(RunSlimgraph({"cliques", "-k", "4", out, "--json"}), "count"));
  }
}

// A file size limit makes the export of the last snapshot fail.
TEST_F(StoreWorkloads, CompleteWhenTheirSnapshotsFail) {
  const std::string out = scratch_.File("out.slim");
  // This run writes the store's image, so that the limited run does not have to.
  ASSERT_EQ(Run("linkbench", {"--protocol", "occ", "--seconds", "0.1"}).code, 0);
  // Over shm, the limit would apply to the nodes' memory as well.
  const std::string line = "ulimit -f 16; exec " + CommandPath() +
                           " txn run --workload linkbench --store " + store_ +
                           " --protocol occ --seconds 0.3 --transport tcp --json --export " + out;
  for (const char* const more :
       {" --nodes 1", " --nodes 2", " --nodes 3 --analytics cc,triangles"}) {
    RunningCommand command({"bash", "-c", line + more});
    const CommandEnd end = command.Wait();
    EXPECT_EQ(end.code, 4) << end.err;
    EXPECT_EQ(end.err.find("slimgraph: no more snapshots; the transactions continue: "), 0U)
        << end.err;
    EXPECT_NE(end.err.find("out.slim: cannot write at byte"), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
    EXPECT_NE(end.out.find("\"failure\":\""), std::string::npos) << end.out;
    EXPECT_GT(Count(end, "committed"), 0);
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

TEST_F(StoreWorkloads, AreFoldedAndAnalysedOverMpi) {
  const CommandEnd end =
      Run("edge-updates", {"--protocol", "occ", "--transactions", "100", "--seconds", "30",
                           "--transport", "mpi", "--fold", "0.001", "--analytics", "cc,triangles"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("\"in_run\":true"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("\"folds\":"), std::string::npos) << end.out;
  EXPECT_EQ(end.out.find("\"folds\":0,"), std::string::npos) << end.out;
}

// Transactions that do not fit in a table or in the log are refused; the others commit.
TEST_F(StoreWorkloads, ContinueWhenSomeTransactionsAreRefused) {
  std::vector<std::string> filling = {
      "txn",       "run",  "--protocol",     "occ",         "--nodes",        "2",
      "--store",   store_, "--workload",     "snb-updates", "--fold",         "0",
      "--seconds", "20",   "--transactions", "300",         "--table-memory", "100K"};
  const CommandEnd words = RunSlimgraph(filling);
  EXPECT_NE(words.out.find("(no_room): a table is full"), std::string::npos) << words.out;
  EXPECT_NE(words.err.find("and no memory to grow further: transactions that need more will be"),
            std::string::npos)
      << words.err;
  filling.emplace_back("--json");
  const CommandEnd full = RunSlimgraph(filling);
  EXPECT_EQ(full.code, 0) << full.err;
  EXPECT_GT(Count(full, "no_room"), 0);
  EXPECT_EQ(Count(full, "no_room"), Count(full, "refused"));
  EXPECT_GT(Count(full, "committed"), 50);
  const CommandEnd large =
      Run("linkbench", {"--protocol", "occ", "--transactions", "2000", "--seconds", "20",
                        "--replicas", "2", "--log-memory", "64K"});
  EXPECT_EQ(large.code, 0) << large.err;
  EXPECT_GT(Count(large, "too_large"), 0);
  EXPECT_NE(large.out.find("\"verified\":true"), std::string::npos) << large.out;
}

// Tables reserve addresses for what they may grow to. There may be fewer than the memory would
// fill.
TEST_F(StoreWorkloads, RunWithFewAddresses) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers need many addresses";
  const std::string line = "ulimit -v 8000000; exec " + CommandPath() +
                           " txn run --workload edge-updates --store " + store_ +
                           " --nodes 2 --transactions 100 --seconds 20 --json";
  RunningCommand command({"bash", "-c", line});
  const CommandEnd end = command.Wait();
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
}

// The second run begins with the first one's commits, for which there is no room at first either.
TEST_F(StoreWorkloads, GrowTheirTables) {
  const std::string logs = scratch_.File("logs");
  for (const std::uint64_t runs : {1U, 2U}) {
    const CommandEnd end = RunSlimgraph(
        {"txn",       "run",  "--protocol", "occ", "--nodes", "2", "--workload",     "snb-updates",
         "--store",   store_, "--rows",     "100", "--fold",  "0", "--transactions", "300",
         "--seconds", "20",   "--durable",  logs,  "--json"});
    ASSERT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(Count(end, "refused"), 0) << end.out;
    EXPECT_GT(Count(end, "growths"), 0) << end.out;
    EXPECT_EQ(Count(end, "run"), runs);
    EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
  }
}

TEST_F(StoreWorkloads, NameMissingOptions) {
  const std::vector<std::string> job = {"txn", "run", "--protocol", "occ", "--nodes", "2"};
  const auto expect = [&](const std::vector<std::string>& more, int code,
                          const std::string& message) {
    std::vector<std::string> words = job;
    words.insert(words.end(), more.begin(), more.end());
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, code) << end.err;
    EXPECT_NE(end.err.find(message), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  };
  expect({"--workload", "tao"}, 2, "--store STORE is needed");
  expect({"--workload", "ycsb", "--store", store_}, 2, "--store is for workloads on graphs");
  expect({"--workload", "tao", "--store", scratch_.File("g.slim")}, 3, "it is no store");
  ASSERT_EQ(RunSlimgraph({"store", "create", "--empty", "-o", scratch_.File("empty")}).code, 0);
  expect({"--workload", "tao", "--store", scratch_.File("empty")}, 3, "it has no edges");
  expect({"--workload", "tao", "--store", store_, "--analytics", "cc,rank"}, 2,
         "--analytics 'rank' is unknown; there are pagerank, bfs");
  expect({"--workload", "tao", "--store", store_, "--analytics", "cliques:9"}, 2, "3..8 vertices");
  expect({"--workload", "tao", "--store", store_, "--analytics", "kcore:2"}, 2,
         "--analytics 'kcore:2' is unknown");
  expect({"--workload", "tao", "--store", store_, "--analytics", "mis:x"}, 2,
         "--analytics mis:x: expected a seed, as in mis:17");
  Create({"--directed"});
  expect({"--workload", "tao", "--store", store_, "--analytics", "cc,triangles"}, 3,
         "--analytics triangles: " + store_ + " is directed, and patterns are mined in undirected");
  expect({"--workload", "tao", "--store", store_, "--analytics", "ktruss"}, 3,
         "--analytics ktruss: " + store_ + " is directed");
  expect({"--workload", "tao", "--store", store_, "--analytics", "sssp"}, 3,
         "--analytics sssp: " + store_ + " has no weights");
  SetUp();
  expect({"--workload", "ycsb", "--analytics", "cc"}, 2, "--analytics needs a workload on a store");
  expect({"--workload", "ycsb", "--export", "x"}, 2, "--export needs a workload on a store");
  expect({"--workload", "tao", "--store", store_, "--export", scratch_.File("no/such.slim")}, 4,
         "such.slim");
}

}  // namespace
}  // namespace slimgraph
