// The output and the exit codes of the command, as a user sees them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/command.h"

namespace slimgraph {
namespace {

class CommandLine : public ::testing::Test {
 protected:
  void SetUp() override {
    graph_ = scratch_.File("kron.slim");
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "10", "--seed", "7", "-o", graph_}).code, 0);
  }

  ScratchDirectory scratch_;
  std::string graph_;
};

TEST_F(CommandLine, HelpOpensWithThreeExamples) {
  const CommandEnd end = RunSlimgraph({"--help"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out.find("  slimgraph gen"), 0U) << end.out;
  EXPECT_NE(end.out.find("Exit codes: 0 done"), std::string::npos);
}

TEST_F(CommandLine, ScanReadsTheSameListsFromAnyNumberOfNodes) {
  std::string checksum;
  for (const auto& [nodes, compute] :
       {std::pair{"1", "1"}, {"2", "1"}, {"4", "4"}, {"4", "2"}, {"5", "3"}, {"8", "1"}}) {
    for (const char* const transport : {"shm", "tcp", "mpi"}) {
      const CommandEnd end = RunSlimgraph({"scan", graph_, "--nodes", nodes, "--compute", compute,
                                           "--threads", "2", "--transport", transport});
      ASSERT_EQ(end.code, 0) << end.err;
      const std::size_t at = end.out.find("lists is correct (");
      ASSERT_NE(at, std::string::npos) << end.out;
      const std::string found = end.out.substr(at, 33);
      if (checksum.empty()) checksum = found;
      EXPECT_EQ(found, checksum) << nodes << " " << compute << " " << transport;
    }
  }
}

TEST_F(CommandLine, JsonIsOneLineAndTheAnnouncementGoesToStandardError) {
  const CommandEnd end = RunSlimgraph({"scan", graph_, "--nodes", "4", "--compute", "2", "--json"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out.find("{\"schema\":2,\"command\":\"scan\""), 0U) << end.out;
  EXPECT_EQ(std::count(end.out.begin(), end.out.end(), '\n'), 1);
  for (const char* const part :
       {"\"verified\":true", "\"traffic\":{\"bytes\":", "\"by_kind\":{\"read\":", "\"load_s\":",
        "\"announced_bytes\":[", "\"cpu_s\":{\"compute\":["}) {
    EXPECT_NE(end.out.find(part), std::string::npos) << part << " in " << end.out;
  }
  EXPECT_NE(end.err.find("the job takes "), std::string::npos) << end.err;
}

TEST_F(CommandLine, PeakMemoryExcludesTheParentProcess) {
  constexpr std::uint64_t kOurs = 256 << 20;
  const std::vector<char> ours(kOurs, 1);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"gen", "chain", "-s", "4", "-o", scratch_.File("chain.slim")},
        {"bfs", graph_, "--source", "1"}}) {
    std::vector<std::string> with_json = words;
    with_json.push_back("--json");
    const CommandEnd end = RunSlimgraph(with_json);
    ASSERT_EQ(end.code, 0) << end.err;
    const std::string name = "\"peak_bytes\":[";
    const std::size_t at = end.out.find(name);
    ASSERT_NE(at, std::string::npos) << end.out;
    const std::uint64_t peak = std::stoull(end.out.substr(at + name.size()));
    EXPECT_GT(peak, 0U);
    EXPECT_LT(peak, kOurs / 2) << end.out;
  }
}

TEST_F(CommandLine, TraceHasARowForEachNode) {
  const std::string trace = scratch_.File("trace.json");
  const CommandEnd end = RunSlimgraph(
      {"scan", graph_, "--nodes", "4", "--compute", "2", "--threads", "2", "--trace", trace});
  EXPECT_EQ(end.code, 0) << end.err;
  const std::string text = ReadText(trace);
  for (const char* const part : {"\"traceEvents\":[", "\"name\":\"node 0\"", "\"name\":\"node 1\"",
                                 "\"scan remote lists\"", "\"ph\":\"X\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST_F(CommandLine, RefusesWrongUsageWithCode2) {
  const auto refuses = [](std::vector<std::string> words, const std::string& why) {
    const CommandEnd end = RunSlimgraph(std::move(words));
    EXPECT_EQ(end.code, 2) << end.err;
    EXPECT_NE(end.err.find(why), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    EXPECT_EQ(end.out, "");
  };
  refuses({"scan", graph_, "--nodes", "4", "--compute", "5"}, "--compute 5 is out of range");
  refuses({"scan", graph_, "--nodes", "4", "--compute", "0"}, "--compute 0 is out of range");
  refuses({"scan", graph_, "--nodes", "1025"}, "--nodes 1025 is out of range");
  refuses({"scan", graph_, "--nodes", "four"},
          "expected a whole number of at least 0, found 'four'");
  refuses({"scan", graph_, "--nodes", "4", "--threads", "0"},
          "--threads: 0 is out of range: 1..256");
  refuses({"scan", graph_, "--transport", "pigeon"}, "--transport pigeon is unknown");
  refuses({"scan", graph_, "--network", "dsl"}, "--network dsl is unknown");
  refuses({"scan", graph_, "--compute", "2"}, "1..1 can compute; --nodes N takes more nodes");
  refuses({"convert", graph_, scratch_.File("mine")}, "mine: the output is a .slim file, so its");
  refuses({"scan"}, "GRAPH");
  refuses({"scam", graph_}, "scam");
  refuses({}, "see slimgraph --help");
}

TEST_F(CommandLine, NamesAMissingFileWithCode3AndInOneLine) {
  const CommandEnd end =
      RunSlimgraph({"scan", scratch_.File("none.slim"), "--nodes", "4", "--compute", "2"});
  EXPECT_EQ(end.code, 3);
  EXPECT_NE(end.err.find("none.slim: there is no such file"), std::string::npos) << end.err;
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
}

TEST_F(CommandLine, RefusesADamagedGraph) {
  std::string bytes = ReadText(graph_);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  const std::string damaged = scratch_.File("damaged.slim");
  WriteText(damaged, bytes);
  const CommandEnd end = RunSlimgraph({"scan", damaged, "--nodes", "4", "--compute", "2"});
  EXPECT_EQ(end.code, 3);
  EXPECT_NE(end.err.find("damaged.slim"), std::string::npos) << end.err;
  EXPECT_EQ(end.out, "");
}

TEST_F(CommandLine, WarnsOfUnknownVariables) {
  const CommandEnd end = RunSlimgraph({"info", graph_}, {"SLIMGRAPH_HOTS=10.0.0.1"});
  EXPECT_EQ(end.code, 0);
  EXPECT_NE(end.err.find("SLIMGRAPH_HOTS"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("SLIMGRAPH_HOST"), std::string::npos) << end.err;
}

TEST_F(CommandLine, FailsWhenItsResultCannotBeWritten) {
  const std::string scan = CommandPath() + " scan " + graph_;
  for (const std::string& nodes : {std::string(), std::string(" --nodes 4 --compute 2")}) {
    // The last one is a pipe whose reader has ended.
    for (const char* const output : {">&-", ">/dev/full", "> >(true); wait $!"}) {
      const CommandEnd lost =
          RunningCommand({"bash", "-c", fmt::format("exec {}; {}{}", output, scan, nodes)}).Wait();
      EXPECT_EQ(lost.code, 4) << nodes << output << lost.err;
      EXPECT_NE(lost.err.find("cannot write the result to standard output"), std::string::npos)
          << nodes << output << lost.err;
    }
  }
}

TEST_F(CommandLine, FailsWithOneLineWhenItsOutputIsLost) {
  for (const std::string& words :
       {std::string("--help"), std::string("scan --help"), std::string("--version"),
        std::string("doctor"), std::string("doctor --json"), "info " + graph_,
        "gen chain -s 3 -o " + scratch_.File("chain.slim")}) {
    const CommandEnd lost =
        RunningCommand({"sh", "-c", CommandPath() + " " + words + " >/dev/full"}).Wait();
    EXPECT_EQ(lost.code, 4) << words << lost.err;
    EXPECT_EQ(lost.err,
              "slimgraph: cannot write the result to standard output: No space left on device\n")
        << words;
  }
}

TEST_F(CommandLine, RefusesOptionsThatContradictEachOther) {
  const CommandEnd both =
      RunSlimgraph({"convert", graph_, scratch_.File("out.slim"), "--directed", "--undirected"});
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("exclude each other"), std::string::npos) << both.err;
  EXPECT_EQ(RunSlimgraph({"scan", graph_, "--repeat", "0"}).code, 2);
}

TEST_F(CommandLine, ReportsTheOptionsThatRepeatTheRun) {
  const CommandEnd end = RunSlimgraph(
      {"gen", "grid", "-s", "6", "--seed", "3", "-o", scratch_.File("g.slim"), "--json"});
  for (const char* const part : {"\"KIND\":\"grid\"", "\"scale\":6", "\"seed\":3"}) {
    EXPECT_NE(end.out.find(part), std::string::npos) << part << " in " << end.out;
  }
}

TEST_F(CommandLine, JoinsTheJobOfMpiexec) {
  const CommandEnd end =
      RunningCommand({"mpiexec.hydra", "-n", "4", CommandPath(), "scan", graph_, "--compute", "2"})
          .Wait();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("on 4 nodes over shm: 2 compute, 2 only hold memory"), std::string::npos);
}

// On two processes that end at once. Once in many times, mpiexec itself then dies by SIGPIPE.
CommandEnd RunTwoByMpiexec(const std::vector<std::string>& rest) {
  std::vector<std::string> words = {"mpiexec.hydra", "-n", "2", CommandPath()};
  words.insert(words.end(), rest.begin(), rest.end());
  CommandEnd end;
  for (int tries = 0; tries < 3; ++tries) {
    end = RunningCommand(words).Wait();
    if (end.code != 128 + SIGPIPE) break;
  }
  return end;
}

TEST_F(CommandLine, SaysWhenTheLaunchIsWrong) {
  const CommandEnd mismatch = RunTwoByMpiexec({"scan", graph_, "--nodes", "4"});
  EXPECT_EQ(mismatch.code, 2);
  EXPECT_NE(mismatch.err.find("the launcher started 2 processes, but --nodes is 4"),
            std::string::npos)
      << mismatch.err;
  const CommandEnd copies = RunTwoByMpiexec({"info", graph_});
  EXPECT_EQ(copies.code, 2);
  EXPECT_EQ(copies.err,
            "slimgraph: info runs in one process, but the launcher started 2; run it without a "
            "launcher\n");
  const CommandEnd foreign = RunSlimgraph({"scan", graph_}, {"OMPI_COMM_WORLD_SIZE=4"});
  EXPECT_EQ(foreign.code, 4);
  EXPECT_NE(foreign.err.find("4 copies that know nothing of each other"), std::string::npos);
}

}  // namespace
}  // namespace slimgraph
