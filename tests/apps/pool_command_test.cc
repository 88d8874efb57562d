// `slimgraph pool …` as users run it. The nodes' own tests are in tests/pool.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "slimgraph/stats/json_value.h"
#include "tests/support/command.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class PoolCommands : public ::testing::Test {
 protected:
  PoolCommands() {
    ::setenv("SLIMGRAPH_POOLS", folder_.File("pools").c_str(), 1);
    WriteText(folder_.File("five.txt"), "1 2\n1 3\n2 3\n3 4\n4 5\n");
  }
  ~PoolCommands() override {
    RunSlimgraph({"pool", "stop", "p", "--now"});
    ::unsetenv("SLIMGRAPH_POOLS");
  }
  static std::string Run(const std::vector<std::string>& words) {
    // Another mark: the nodes of a pool outlive the command that has started them.
    const CommandEnd end = RunSlimgraph(words, {"TEST_MARK=pool"});
    EXPECT_EQ(end.code, 0) << words[1] << ": " << end.err;
    return end.out;
  }
  // A command that fails says so in one line.
  static void ExpectFailure(const std::vector<std::string>& words, int code, const char* said) {
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, code) << end.err;
    EXPECT_THAT(end.err, MatchesRegex("slimgraph: [^\n]*\n"));
    EXPECT_THAT(end.err, HasSubstr(said));
    EXPECT_EQ(end.out, "");
  }
  // The text format: each figure is explained once, before its samples.
  static void ExpectMetrics(const std::string& text, const JsonValue& status) {
    std::istringstream lines(text);
    std::set<std::string> defined;
    std::string figure;
    std::map<std::string, double> samples;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# HELP ")) {
        figure = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(defined.insert(figure).second) << line;
      } else if (line.starts_with("# TYPE ")) {
        EXPECT_TRUE(line == "# TYPE " + figure + " gauge" ||
                    line == "# TYPE " + figure + " counter");
      } else {
        EXPECT_THAT(line,
                    MatchesRegex(figure + "[{]pool=\"p\"(,[a-z]+=\"[a-z0-9]*\")*[}] [0-9.e+-]+"));
        samples[line.substr(0, line.rfind(' '))] = std::stod(line.substr(line.rfind(' ')));
      }
    }
    EXPECT_EQ(samples["slimgraph_pool_node_up{pool=\"p\",node=\"1\"}"], 1);
    EXPECT_EQ(samples["slimgraph_pool_memory_limit_bytes{pool=\"p\",node=\"0\"}"], 1 << 20);
    EXPECT_EQ(samples["slimgraph_pool_memory_used_bytes{pool=\"p\",node=\"0\"}"],
              status.NumberAt("/result/nodes/0/used_bytes"));
    EXPECT_EQ(samples["slimgraph_pool_jobs{pool=\"p\",graph=\"other\"}"], 0);
    const std::string bytes = "slimgraph_pool_graph_bytes{pool=\"p\",node=";
    EXPECT_EQ(samples[bytes + "\"0\",graph=\"five\",view=\"\"}"] +
                  samples[bytes + "\"1\",graph=\"five\",view=\"\"}"],
              status.NumberAt("/result/graphs/0/bytes"));
  }
  std::string File(const std::string& name) const { return folder_.File(name); }

 private:
  ScratchDirectory folder_;
};

TEST_F(PoolCommands, StartLoadShowDropAndStop) {
  EXPECT_EQ(Run({"pool", "list"}), "no pools\n");
  EXPECT_EQ(Run({"pool", "start", "p", "--nodes", "2", "--memory", "1M"}), "pool p: 2 nodes\n");
  EXPECT_EQ(Run({"pool", "start", "p"}), "pool p: 2 nodes, all of which ran already\n");
  EXPECT_EQ(Run({"pool", "list"}), "p: 2 of 2 nodes run\n");
  EXPECT_THAT(Run({"pool", "load", "p", File("five.txt"), "--undirected"}),
              MatchesRegex("p:five: .* in .* on 2 nodes\n"));
  ExpectFailure({"pool", "load", "p", File("five.txt"), "--undirected"}, 3, "has a graph 'five'");
  Run({"pool", "load", "p", File("five.txt"), "--undirected", "--as", "other"});
  EXPECT_THAT(Run({"pool", "status", "p"}), HasSubstr("pool p: 2 nodes, 2 graphs, 0 jobs\n"));
  const auto status = Unwrap(ParseJson(Run({"pool", "status", "p", "--json"}), "status"));
  EXPECT_EQ(status.TextAt("/result/graphs/0/name"), "five");
  EXPECT_EQ(status.TextAt("/result/graphs/0/file"), File("five.txt"));
  EXPECT_GT(status.NumberAt("/result/graphs/1/bytes"), 0);
  EXPECT_TRUE(status.IsTrue("/result/graphs/1/ready"));
  EXPECT_TRUE(status.IsTrue("/result/nodes/1/answers"));
  EXPECT_EQ(status.Find("/result/jobs")->array()->size(), 0);
  EXPECT_EQ(Run({"job", "list", "p"}), "no jobs\n");
  ExpectMetrics(Run({"pool", "metrics", "p"}), status);
  Run({"pool", "drop", "p", "five"});
  ExpectFailure({"pool", "drop", "p", "five"}, 3, "has no graph 'five': it has other");
  EXPECT_EQ(Run({"pool", "stop", "p"}), "");
  ExpectFailure({"pool", "status", "p"}, 3, "there is no pool 'p'");
}

TEST_F(PoolCommands, PrepareWhatMiningNeeds) {
  Run({"pool", "start", "p", "--nodes", "2"});
  Run({"pool", "load", "p", File("five.txt"), "--undirected", "--prepare", "vertex"});
  EXPECT_THAT(Run({"pool", "status", "p"}), Not(HasSubstr("for mining")));
  Run({"pool", "load", "p", File("five.txt"), "--undirected", "--as", "both", "--prepare",
       "vertex,mining"});
  EXPECT_THAT(Run({"pool", "status", "p"}),
              AllOf(HasSubstr("graph both for mining (all)"), HasSubstr("for mining (upper)")));
  for (const char* const wrong : {"mines", "vertex,", ""}) {
    ExpectFailure({"pool", "load", "p", File("five.txt"), "--prepare", wrong}, 2,
                  "--prepare: expected vertex, mining, or vertex,mining, found '");
  }
}

TEST_F(PoolCommands, BringBackANodeThatHasEnded) {
  Run({"pool", "start", "p", "--nodes", "2"});
  Run({"pool", "load", "p", File("five.txt"), "--undirected"});
  const auto status = Unwrap(ParseJson(Run({"pool", "status", "p", "--json"}), "status"));
  ::kill(static_cast<pid_t>(status.NumberAt("/result/nodes/1/process").value()), SIGKILL);
  while (Run({"pool", "list"}) != "p: 1 of 2 nodes run\n") {
  }
  EXPECT_THAT(Run({"pool", "status", "p"}),
              HasSubstr("node 1  has ended: 'slimgraph pool start p'"));
  ExpectFailure({"pool", "load", "p", File("five.txt"), "--undirected", "--as", "x"}, 4,
                "node 1 of pool 'p' has ended");
  EXPECT_EQ(Run({"pool", "start", "p"}),
            "pool p: 2 nodes, 1 of which had ended; loaded again: five\n");
}

// The processes of a launcher have its variables; what they start for jobs must not take them for
// its own.
TEST_F(PoolCommands, StartByALauncher) {
  Run({"pool", "start", "p", "--nodes", "3", "--launcher", "mpiexec.hydra -n {nodes}"});
  Run({"pool", "load", "p", File("five.txt"), "--undirected"});
  Run({"pagerank", "p:five", "--compute", "2", "--verify"});
  Run({"triangles", "p:five", "--verify"});
  // A launcher may also start the one process of a job.
  const auto under = [](const char* processes) {
    return RunningCommand({"mpiexec.hydra", "-n", processes, CommandPath(), "pagerank", "p:five",
                           "--compute", "2", "--verify"},
                          {"TEST_MARK=pool"})
        .Wait();
  };
  EXPECT_EQ(under("1").code, 0);
  EXPECT_THAT(under("2").err, HasSubstr("let it start one process"));
  EXPECT_EQ(Run({"pool", "stop", "p", "--now"}), "");
}

TEST_F(PoolCommands, RefuseInOneLine) {
  ExpectFailure({"pool", "start", "p"}, 2, "pool 'p' is new: give --nodes");
  ExpectFailure({"pool", "start", "p", "--nodes", "1", "--copies", "2"}, 2, "give 1 to 1");
  EXPECT_TRUE(std::filesystem::is_empty(std::getenv("SLIMGRAPH_POOLS")));
  ExpectFailure({"pool", "load", "p", File("five.txt")}, 3, "there is no pool 'p'");
  ExpectFailure({"pool", "stop", "../p"}, 2, "is no name for a pool");
  Run({"pool", "start", "p", "--nodes", "1", "--memory", "64"});
  ExpectFailure({"pool", "load", "p", File("none.txt")}, 3, "none.txt");
  ExpectFailure({"pool", "load", "p", File("five.txt"), "--as", "a.b"}, 2, "no name for a graph");
  ExpectFailure({"pool", "start", "p", "--nodes", "2"}, 2, "runs on 1 nodes");
  ExpectFailure({"pool", "start", "q", "--nodes", "2", "--launcher", "srun"}, 2, "{nodes}");
  for (const char* const helper : {"pool-node", "pool-loader", "pool-join"}) {
    const CommandEnd end = RunSlimgraph({helper, "a", "b", "0", "1"});
    EXPECT_NE(end.code, 0) << helper;
  }
  const CommandEnd loaded = RunSlimgraph({"pool", "load", "p", File("five.txt"), "--undirected"});
  EXPECT_EQ(loaded.code, 4);
  EXPECT_THAT(loaded.err, HasSubstr("but of the pool's --memory"));
}

}  // namespace
}  // namespace slimgraph
