// `slimgraph experiment` and `slimgraph compare` as a user sees them: the files that they leave,
// how they continue after a stop, and their errors. The lab's own tests are in python/tests/lab.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>

#include "tests/support/command.h"
#include "tests/support/sanitized.h"

namespace slimgraph {
namespace {

std::size_t Lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class ExperimentCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasPackages()) {
      GTEST_SKIP() << "the lab's packages are missing: python3-pandas python3-matplotlib "
                      "python3-jinja2";
    }
    graph_ = scratch_.File("kron.slim");
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "8", "--weights", "1..9", "-o", graph_}).code, 0);
  }

  std::vector<std::string> Words(const std::string& name, std::vector<std::string> more = {},
                                 const char* rounds = "1") {
    std::vector<std::string> words = {"experiment", name,       "--graphs", graph_,     "--small",
                                      "-o",         folder(),   "--nodes",  "2",        "--network",
                                      "none",       "--budget", "60s",      "--rounds", rounds};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static bool HasPackages() {
    static const bool has =
        RunningCommand({"/usr/bin/python3", "-c", "import pandas, matplotlib, jinja2"})
            .Wait()
            .code == 0;
    return has;
  }
  std::string folder() const { return scratch_.File("out"); }
  std::string Raw(const std::string& study) const { return folder() + "/raw/" + study + ".jsonl"; }

  ScratchDirectory scratch_;
  std::string graph_;
};

TEST_F(ExperimentCommands, WritesAPageItsRunsAndTables) {
  const CommandEnd end = RunSlimgraph(Words("elasticity", {"--csv"}));
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out.find("elasticity, kron: time: Against N/C times the time of (2,2), (2,1)"), 0U)
      << end.out;
  EXPECT_EQ(Lines(ReadText(Raw("elasticity"))), 31U);
  const std::string page = ReadText(folder() + "/index.html");
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("slimgraph triangles " + graph_ + " --nodes 2 --compute 1"),
            std::string::npos);
  EXPECT_EQ(ReadText(folder() + "/svg/elasticity-kron-time.svg").find("<svg xmlns=\"http"), 0U);
  EXPECT_NE(ReadText(folder() + "/summary.json").find("\"median\":["), std::string::npos);
  EXPECT_NE(ReadText(folder() + "/csv/elasticity-kron-time.csv").find("bfs"), std::string::npos);
}

// The launcher here logs the command line of each run.
TEST_F(ExperimentCommands, VerifiesEachPointOnce) {
  const std::string log = scratch_.File("log");
  const std::string launcher = scratch_.File("launcher");
  WriteText(launcher, "#!/bin/sh\necho \"$*\" >>" + log + "\nexec \"$@\"\n");
  ASSERT_EQ(::chmod(launcher.c_str(), 0700), 0);
  const auto measure = [&] {
    ASSERT_EQ(RunSlimgraph(Words("elasticity", {"--launcher", launcher}, "2")).code, 0);
  };
  const auto verified = [&] {
    std::vector<std::string> runs;
    std::istringstream lines(ReadText(log));
    for (std::string line; std::getline(lines, line);) {
      if (line.find("--verify") != std::string::npos) runs.push_back(line);
    }
    return runs;
  };
  measure();
  const std::vector<std::string> runs = verified();
  EXPECT_EQ(runs.size(), 25U);  // the other 6 points have the result of a verified point
  EXPECT_EQ(std::set<std::string>(runs.begin(), runs.end()).size(), runs.size());
  const std::string page = ReadText(folder() + "/index.html");
  EXPECT_NE(page.find("31 of 31 measured points were verified"), std::string::npos);
  EXPECT_EQ(page.find("# not verified"), std::string::npos);
  const std::string raw = ReadText(Raw("elasticity"));
  EXPECT_EQ(raw.find("--verify"), std::string::npos);  // measured runs do not verify
  // A continued experiment does not verify again.
  measure();
  EXPECT_EQ(verified(), runs);
  EXPECT_NE(ReadText(folder() + "/index.html").find("31 of 31 measured points were verified"),
            std::string::npos);
}

TEST_F(ExperimentCommands, DoesNotShowWrongResults) {
  const std::string liar = scratch_.File("liar");
  WriteText(liar,
            "#!/bin/sh\n"
            "case \"$*\" in\n"
            "  *' bfs '*--verify*) echo 'slimgraph: a depth is wrong' >&2; exit 1 ;;\n"
            "  *' triangles '*'--compute 1 '*) \"$@\" | sed 's/\"count\":[0-9]*/\"count\":7/' ;;\n"
            "  *) exec \"$@\" ;;\n"
            "esac\n");
  ASSERT_EQ(::chmod(liar.c_str(), 0700), 0);
  const CommandEnd end = RunSlimgraph(Words("elasticity", {"--launcher", liar}));
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.err.find("a depth is wrong"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("count differently"), std::string::npos) << end.err;
}

TEST_F(ExperimentCommands, ContinuesWhereItStopped) {
  ASSERT_EQ(RunSlimgraph(Words("volume")).code, 0);
  const std::string whole = ReadText(Raw("volume"));
  // As after a crash in the middle of writing a line.
  const std::size_t kept = whole.find('\n', whole.size() / 2) + 1;
  WriteText(Raw("volume"), whole.substr(0, kept + 100));
  const CommandEnd end = RunSlimgraph(Words("volume"));
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(ReadText(Raw("volume")).substr(0, kept), whole.substr(0, kept));
  EXPECT_EQ(Lines(ReadText(Raw("volume"))), Lines(whole));
  // A further run has nothing to do.
  const std::string done = ReadText(Raw("volume"));
  ASSERT_EQ(RunSlimgraph(Words("volume")).code, 0);
  EXPECT_EQ(ReadText(Raw("volume")), done);
  // After the graph has changed, everything must be measured again.
  ASSERT_EQ(
      RunSlimgraph({"gen", "kron", "-s", "8", "--seed", "2", "--weights", "1..9", "-o", graph_})
          .code,
      0);
  ASSERT_EQ(RunSlimgraph(Words("volume")).code, 0);
  EXPECT_EQ(Lines(ReadText(Raw("volume"))), 2 * Lines(whole));
}

TEST_F(ExperimentCommands, KeepsWhatItHasWhenItIsStopped) {
  std::vector<std::string> words = Words("scalability", {}, "1000");
  words.insert(words.begin(), CommandPath());
  RunningCommand running(words);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!std::filesystem::exists(Raw("scalability")) || ReadText(Raw("scalability")).empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    ::usleep(2000);
  }
  ::kill(running.pid(), SIGINT);
  const CommandEnd end = running.Wait();
  EXPECT_EQ(end.code, 128 + SIGINT);
  EXPECT_LT(end.seconds, 20);
  EXPECT_NE(end.err.find("stopped; run the same command again to continue"), std::string::npos)
      << end.err;
  EXPECT_NE(ReadText(folder() + "/index.html").find("it was stopped"), std::string::npos);
  EXPECT_TRUE(running.Processes().empty());
}

TEST_F(ExperimentCommands, SaysWhatItCouldNotMeasure) {
  const std::string plain = scratch_.File("plain.slim");
  ASSERT_EQ(RunSlimgraph({"convert", graph_, plain, "--drop-weights"}).code, 0);
  graph_ = plain;
  const CommandEnd end = RunSlimgraph(Words("elasticity"));
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.err.find("not measured: sssp on plain"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("has no weights"), std::string::npos) << end.err;
  EXPECT_NE(ReadText(folder() + "/index.html").find("has no weights"), std::string::npos);
}

TEST_F(ExperimentCommands, RunsPointsUnderALauncher) {
  const CommandEnd end = RunSlimgraph(
      Words("volume", {"--launcher", "mpiexec.hydra -disable-auto-cleanup -n {nodes}"}));
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(ReadText(Raw("volume")).find("\"nodes\":2"), std::string::npos);
}

TEST_F(ExperimentCommands, RefusesInvalidOptionsWithOneLine) {
  const struct {
    std::vector<std::string> words;
    int code;
    const char* says;
  } wrong[] = {
      {{"experiment", "elasticity"}, 2, "experiment needs --output DIR"},
      {{"experiment", "luck", "-o", folder()}, 2, "there is no experiment 'luck'"},
      {{"experiment", "elasticity", "-o", folder(), "--budget", "soon"}, 2, "not a time"},
      {{"experiment", "elasticity", "-o", folder(), "--rounds", "0"}, 2, "measures nothing"},
      {{"experiment", "elasticity", "-o", folder(), "--graphs", "/none.slim"}, 3, "/none.slim"},
      {{"experiment", "elasticity", "-o", "/proc/none", "--graphs", graph_}, 4, "/proc/none"},
      {{"experiment", "elasticity", "-o", folder(), "--graphs", graph_, "--budget", "0.001"},
       2,
       "the budget ended before any point was measured"},
      {{"compare", graph_, graph_}, 3, "is not JSON"},
      {{"bfs", graph_, "--source", "1", "--nodes", "2", "--cpu-share", "0"}, 2, "0 %"},
  };
  for (const auto& one : wrong) {
    const CommandEnd end = RunSlimgraph(one.words);
    EXPECT_EQ(end.code, one.code) << end.err;
    EXPECT_NE(end.err.find(one.says), std::string::npos) << end.err;
    EXPECT_LE(Lines(end.err), 2U) << end.err;
    EXPECT_EQ(end.out, "");
  }
}

TEST_F(ExperimentCommands, KeepsWhatItHasWhenTheDiskIsFull) {
  if (::geteuid() != 0) GTEST_SKIP() << "a small disk can only be mounted by root";
  const std::string script =
      "mkdir -p \"$0\" && mount -t tmpfs -o size=64k none \"$0\" || exit 77; shift; "
      "\"$@\"; code=$?; cat \"$0\"/raw/*.jsonl >\"$0.kept\"; umount \"$0\"; exit $code";
  std::vector<std::string> words = {"unshare", "-m",     "sh", "-c",
                                    script,    folder(), "-",  CommandPath()};
  for (const std::string& word : Words("elasticity", {}, "9")) words.push_back(word);
  RunningCommand running(words);
  const CommandEnd end = running.Wait(std::chrono::seconds(60));
  if (end.code == 77) GTEST_SKIP() << "nothing can be mounted here";
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("No space left on device"), std::string::npos) << end.err;
  const std::string kept = ReadText(folder() + ".kept");
  EXPECT_GT(Lines(kept), 3U);
  EXPECT_EQ(kept.back(), '\n') << "half a line";
}

TEST_F(ExperimentCommands, ComparesWithItself) {
  ASSERT_EQ(RunSlimgraph(Words("volume")).code, 0);
  const CommandEnd end = RunSlimgraph({"compare", folder(), folder(), "--json"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("\"changed\":0"), std::string::npos) << end.out;
  // All points are measured; only the result cannot be written.
  std::string measure;
  for (const std::string& word : Words("volume")) measure += " " + word;
  for (const std::string& words : {measure, " compare " + folder() + " " + folder()}) {
    const CommandEnd lost =
        RunningCommand({"sh", "-c", CommandPath() + words + " >/dev/full"}).Wait();
    EXPECT_EQ(lost.code, 4) << lost.err;
    EXPECT_NE(lost.err.find("cannot write the result to standard output"), std::string::npos)
        << lost.err;
  }
  // One run reports a wrong count.
  const std::string other = scratch_.File("other");
  std::filesystem::create_directories(other + "/raw");
  std::string raw = ReadText(Raw("volume"));
  raw.insert(raw.find("\"count\":") + 8, "1");
  WriteText(other + "/raw/volume.jsonl", raw);
  const CommandEnd differs = RunSlimgraph({"compare", folder(), other});
  EXPECT_EQ(differs.code, 1) << differs.err;
  EXPECT_EQ(differs.out.find("DIFFERS"), 0U) << differs.out;
}

TEST_F(ExperimentCommands, UpdatesAreNotMeasuredOnADirectedGraph) {
  const std::string directed = scratch_.File("directed.slim");
  WriteText(scratch_.File("edges.txt"), "1 2\n2 3\n");
  ASSERT_EQ(RunSlimgraph({"convert", scratch_.File("edges.txt"), directed, "--directed"}).code, 0);
  const CommandEnd none =
      RunSlimgraph({"experiment", "updates", "--graphs", directed, "-o", scratch_.File("none")});
  EXPECT_EQ(none.code, 4) << none.out;
  EXPECT_NE(none.err.find("directed"), std::string::npos) << none.err;
}

// The doctor's line that says why limits of nodes are refused; "" if limits work.
std::string WhyNodesCannotBeLimited() {
  const std::string examined = RunSlimgraph({"doctor"}).out;
  const std::size_t at = examined.find("--cpu-share and --node-memory are refused:");
  return at == std::string::npos ? "" : examined.substr(at, examined.find('\n', at) - at);
}

// Nodes limited to 10 % of a processor take ten times their processor time.
TEST_F(ExperimentCommands, NodesAreLimitedToTheirShares) {
  if (const std::string why = WhyNodesCannotBeLimited(); !why.empty()) GTEST_SKIP() << why;
  const std::string large = scratch_.File("large.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", test::kSanitized ? "13" : "15", "-o", large}).code,
            0);
  const CommandEnd held =
      RunSlimgraph({"cliques", large, "-k", "5", "--cpu-share", "10", "--json"});
  ASSERT_EQ(held.code, 0) << held.err;
  const std::string before = "\"cpu_s\":{\"compute\":[";
  const double cpu_s = std::stod(held.out.substr(held.out.find(before) + before.size()));
  EXPECT_GT(held.seconds, 0.7 * cpu_s / 0.10);  // 0.7: the quotas of one or two periods are extra
}

TEST_F(ExperimentCommands, NodesAreLimitedToTheirMemory) {
  if (const std::string why = WhyNodesCannotBeLimited(); !why.empty()) GTEST_SKIP() << why;
  const CommandEnd end = RunSlimgraph({"pagerank", graph_, "--nodes", "2", "--node-memory", "1M"});
  EXPECT_EQ(end.code, 4);
  const CommandEnd room =
      RunSlimgraph({"pagerank", graph_, "--nodes", "2", "--node-memory", "256M", "--verify"});
  EXPECT_EQ(room.code, 0) << room.err;
  const CommandEnd killed = RunSlimgraph({"bench", "fabric", "--node-memory", "30M"});
  EXPECT_EQ(killed.code, 4);
  EXPECT_NE(killed.err.find("died: it took more than the 30.0 MiB that a node may hold"),
            std::string::npos)
      << killed.err;
}

}  // namespace
}  // namespace slimgraph
