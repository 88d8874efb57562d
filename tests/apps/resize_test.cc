// Jobs on a pool whose compute nodes change while they run.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/apps/pool_support.h"
#include "tests/support/sanitized.h"

namespace slimgraph {
namespace {

class Resizing : public PoolTest {
 protected:
  static void SetUpTestSuite() { StartPool({"--copies", "2"}); }
  // Changes after 1 to `most` steps each.
  static std::string DrawSchedule(int steps, int most) {
    std::string schedule;
    for (int step = 0; step < steps;
         step += 1 + static_cast<int>(random_() % static_cast<std::uint64_t>(most))) {
      schedule += fmt::format("{}{}@{}", step > 0 ? "," : "", 1 + random_() % 4, step);
    }
    return schedule;
  }
};

TEST_F(Resizing, ChangesNoAnswer) {
  const std::vector<std::vector<std::string>> kPrograms = {{"bfs", "--source", "1"},
                                                           {"khop", "--source", "1", "--hops", "3"},
                                                           {"sssp", "--source", "1"},
                                                           {"pagerank"},
                                                           {"pagerank", "--precision", "float"},
                                                           {"pagerank", "--tolerance", "1e-6"},
                                                           {"cc"},
                                                           {"bc", "--sources", "1,2,3"},
                                                           {"bc", "--random", "2"},
                                                           {"cdlp"},
                                                           {"kcore"},
                                                           {"mis"}};
  const std::vector<std::vector<std::string>> kSettings = {
      {"--cache", "none"},
      {"--memory-side", "serve", "--threads", "2"},
      {"--transport", "tcp", "--edge-cache", "10%", "--mode", "pull"},
      {"--mode", "push", "--cache", "index"},
      {"--memory-side", "reduce", "--mode", "pull", "--transport", "tcp"},
      {"--memory-side", "auto", "--edge-cache", "0", "--threads", "2"},
      {"--memory-side", "reduce", "--delegate", "node"},
  };
  std::size_t turn = random_() % kSettings.size();
  double moves = 0;
  for (const auto& program : kPrograms) {
    std::vector<std::string> words = program;
    words.insert(words.begin() + 1, "p:kron");
    const auto& setting = kSettings[turn++ % kSettings.size()];
    words.insert(words.end(), setting.begin(), setting.end());
    words.insert(words.end(), {"--compute-schedule", DrawSchedule(24, 3), "--output",
                               scratch_->File("values"), "--verify", "--json"});
    const JsonValue report = Parse(Run(words));
    EXPECT_TRUE(report.IsTrue("/verified")) << program[0];
    const std::string values = ReadText(scratch_->File("values"));
    EXPECT_EQ(std::count(values.begin(), values.end(), '\n'), report.NumberAt("/graph/vertices"));
    moves += static_cast<double>(Numbers(report, "/phases/compute").size()) - 1;
  }
  EXPECT_GE(moves, 20);
}

// Also the memory in which the values of a step are kept. A step after a change may need a few
// lists of each group of 64, and fetches whole groups.
TEST_F(Resizing, KeepsToTheMemoryThatWasAnnounced) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  constexpr double kSlack = 8 << 20;
  Run({"gen", "kron", "-s", "20", "-k", "4", "-o", scratch_->File("large.slim")});
  Run({"pool", "load", "p", scratch_->File("large.slim"), "--as", "large"});
  const std::vector<std::vector<std::string>> kJobs = {
      {"mis", "--compute-schedule", "2@0,1@4", "--threads", "2"},
      {"mis", "--compute-schedule", "1@0,2@3", "--survive"},
      {"bfs", "--source", "1", "--compute-schedule", "1@0,3@1,1@2"},
      {"kcore", "--compute-schedule", "2@0,1@12", "--threads", "2"},
      {"pagerank", "--compute", "2", "--survive"},
      {"sssp", "--source", "1", "--unit-weights", "--compute", "3", "--survive"},
      {"cc", "--compute-schedule", "1@0,2@2"},
  };
  for (std::vector<std::string> words : kJobs) {
    words.insert(words.begin() + 1, "p:large");
    words.emplace_back("--json");
    const JsonValue report = Parse(Run(words));
    const std::vector<double> announced = Numbers(report, "/memory/announced_bytes");
    const std::vector<double> peak = Numbers(report, "/memory/peak_bytes");
    ASSERT_EQ(announced.size(), peak.size());
    for (std::size_t node = 0; node < peak.size(); ++node) {
      EXPECT_LE(peak[node], 1.1 * announced[node] + kSlack)
          << fmt::format("{}, on node {}", fmt::join(words, " "), node);
    }
  }
  Run({"pool", "drop", "p", "large"});
}

// Compared with jobs of one node on the file.
TEST_F(Resizing, ChangesNoCount) {
  const std::vector<std::vector<std::string>> kCounts = {
      {"triangles"},
      {"cliques", "-k", "4"},
      {"cliques", "-k", "5"},
      {"motifs", "-k", "3"},
      {"motifs", "-k", "4"},
      {"match", "--pattern", "house"},
      {"match", "--pattern", "4-cycle", "--no-formulae"},
      {"match", "--pattern", "diamond", "--induced", "vertex", "--no-formulae"},
  };
  const std::vector<std::vector<std::string>> kSettings = {
      {},
      {"--edge-cache", "64K", "--threads", "2"},
      {"--chunk-memory", "0", "--edge-cache", "16K"},
      {"--transport", "tcp", "--steal", "off"},
      {"--edge-cache", "0", "--fetch", "read", "--threads", "2"},
      {"--transport", "tcp", "--chunk-memory", "0", "--threads", "2"},
  };
  std::size_t turn = random_() % kSettings.size();
  double moves = 0;
  const auto counts = [](const JsonValue& report) {
    const JsonValue* const all = report.Find("/result/counts");
    if (all == nullptr) return std::vector{report.NumberAt("/result/count").value_or(-1)};
    std::vector<double> numbers;
    for (const auto& [name, number] : *all->object()) {
      numbers.push_back(number.number().value_or(-1));
    }
    return numbers;
  };
  for (const auto& count : kCounts) {
    std::vector<std::string> words = count;
    words.insert(words.begin() + 1, scratch_->File("kron.slim"));
    words.emplace_back("--json");
    const std::vector<double> right = counts(Parse(Run(words)));
    for (int i = 0; i < 3; ++i) {
      words[1] = "p:kron";
      words.resize(count.size() + 2);
      const auto& setting = kSettings[turn++ % kSettings.size()];
      words.insert(words.end(), setting.begin(), setting.end());
      const int most = 2 + static_cast<int>(random_() % 30);
      words.insert(words.end(), {"--compute-schedule", DrawSchedule(200, most)});
      const JsonValue report = Parse(Run(words));
      std::string line;
      for (const std::string& word : words) line += word + " ";
      EXPECT_EQ(counts(report), right) << line;
      moves += static_cast<double>(Numbers(report, "/phases/compute").size()) - 1;
    }
  }
  EXPECT_GE(moves, 40);
}

TEST_F(Resizing, OfACountHappensWhenACommandAsksForIt) {
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  const std::string right = first_line(Run({"match", scratch_->File("kron.slim"), "--pattern",
                                            "bull", "--induced", "vertex", "--threads", "2"}));
  RunningCommand job(
      {CommandPath(), "match", "p:kron", "--pattern", "bull", "--induced", "vertex"});
  ASSERT_TRUE(job.AwaitError("the job takes"));
  const std::string number = std::to_string(job.pid());
  std::string before = "1";
  for (const char* const compute : {"3", "1"}) {
    EXPECT_EQ(Run({"job", "resize", "p", number, "--compute", compute}),
              fmt::format("job {}: {} compute node{} instead of {}\n", number, compute,
                          compute[0] == '1' ? "" : "s", before));
    before = compute;
  }
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(first_line(end.out), right);
}

TEST_F(Resizing, TellsItsPhasesAndSteps) {
  const JsonValue report = Parse(Run({"pagerank", "p:kron", "--iterations", "9",
                                      "--compute-schedule", "4@0,1@3,2@6", "--verify", "--json"}));
  const auto numbers = [&](const char* path) { return Numbers(report, path); };
  EXPECT_EQ(numbers("/phases/compute"), (std::vector<double>{4, 1, 2}));
  EXPECT_EQ(numbers("/phases/first_step"), (std::vector<double>{0, 3, 6}));
  EXPECT_EQ(numbers("/steps/seconds").size(), 9);
  EXPECT_EQ(report.NumberAt("/result/steps"), 9);
  double bytes = 0;
  for (const double one : numbers("/phases/bytes")) bytes += one;
  EXPECT_EQ(report.NumberAt("/traffic/bytes"), bytes);
  EXPECT_GT(numbers("/phases/handed_over_bytes")[0], 8 * 2048);
  EXPECT_EQ(numbers("/phases/handed_over_bytes")[2], 0);
  double seconds = 0;
  for (const char* const path : {"/phases/run_s", "/phases/stall_s"}) {
    for (const double one : numbers(path)) seconds += one;
  }
  EXPECT_NEAR(report.NumberAt("/time/run_s").value_or(0), seconds, 1e-3);
}

TEST_F(Resizing, HappensWhenACommandAsksForIt) {
  RunningCommand job({CommandPath(), "pagerank", "p:kron", "--iterations", "1000000000"});
  ASSERT_TRUE(job.AwaitError("the job takes"));
  const std::string number = std::to_string(job.pid());
  std::string before = "1";
  for (const char* const compute : {"3", "2", "2", "1"}) {
    EXPECT_EQ(Run({"job", "resize", "p", number, "--compute", compute}),
              fmt::format("job {}: {} compute node{} instead of {}\n", number, compute,
                          compute[0] == '1' ? "" : "s", before));
    EXPECT_NE(Run({"job", "list", "p"}).find(std::string(", ") + compute + " compute node"),
              std::string::npos);
    EXPECT_EQ(job.Processes().size(), std::strtoul(compute, nullptr, 10));
    before = compute;
  }
  Run({"job", "cancel", "p", number});
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("2 compute nodes instead of 3 from step "), std::string::npos) << end.err;
}

TEST_F(Resizing, KeepsTheComputeNodesIfOthersCannotBeStarted) {
  Run({"pool", "load", "p", scratch_->File("kron.slim"), "--as", "dropped"});
  RunningCommand job({CommandPath(), "pagerank", "p:dropped", "--iterations", "1000000000"});
  ASSERT_TRUE(job.AwaitError("the job takes"));
  Run({"pool", "drop", "p", "dropped"});
  const std::string number = std::to_string(job.pid());
  for (const char* const compute : {"2", "3"}) {
    const CommandEnd asked = RunSlimgraph({"job", "resize", "p", number, "--compute", compute});
    EXPECT_EQ(asked.code, 4);
    EXPECT_NE(asked.err.find(" keeps its 1 compute node: "), std::string::npos) << asked.err;
  }
  EXPECT_NE(Run({"job", "list", "p"}).find(", 1 compute node"), std::string::npos);
  Run({"job", "cancel", "p", number});
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("the job keeps its 1 compute node: "), std::string::npos) << end.err;
}

TEST_F(Resizing, EndsInOneLineIfAComputeNodeThatFollowsIsStopped) {
  RunningCommand job({CommandPath(), "pagerank", "p:kron", "--iterations", "1000000000",
                      "--compute-schedule", "1@0,2@50"});
  ASSERT_TRUE(job.AwaitError("on the largest of 5 nodes"));
  pid_t other = 0;
  for (const pid_t process : job.Processes()) {
    if (process != job.pid()) other = process;
  }
  ASSERT_NE(other, 0);
  ::kill(other, SIGSTOP);
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("node 1"), std::string::npos) << end.err;
  AwaitEnd(other);
}

TEST_F(Resizing, RefusesInOneLineWhatItCannotDo) {
  const std::string file = scratch_->File("kron.slim");
  ExpectRefusal({"cc", "p:kron", "--compute-schedule", "2@1,3@1"}, 2, "ascending order");
  ExpectRefusal({"cc", "p:kron", "--compute-schedule", "0@1"}, 2, "'0@1'");
  ExpectRefusal({"cc", "p:kron", "--compute-schedule", "2"}, 2, "NODES@STEP");
  ExpectRefusal({"cc", "p:kron", "--compute-schedule", ""}, 2, "NODES@STEP");
  ExpectRefusal({"cc", "p:kron", "--compute-schedule", "2@1", "--repeat", "2"}, 2, "--repeat");
  ExpectRefusal({"cc", file, "--compute-schedule", "2@1"}, 2, "NAME:G");
  ExpectRefusal({"cc", "p:kron", "--survive", "--repeat", "2"}, 2, "--repeat");
  ExpectRefusal({"triangles", file, "--compute-schedule", "2@1"}, 2, "NAME:G");
  ExpectRefusal({"match", "p:kron", "--pattern", "house", "--list", scratch_->File("list"),
                 "--compute-schedule", "2@1"},
                2, "--compute-schedule and --list");
  ExpectRefusal({"local", "p:kron", "--triangles", "--compute-schedule", "2@1"}, 2,
                "--compute-schedule");
  ExpectRefusal({"cc", file, "--survive"}, 2, "NAME:G");
  ExpectRefusal({"bfs", "p:kron", "--survive", "--source", "99999999"}, 3, "99999999");
  ExpectRefusal({"job", "resize", "p", "1", "--compute", "2"}, 3, "has no job of process 1");
  ExpectRefusal({"job", "resize", "p", "x", "--compute", "2"}, 2, "is no number");
  ExpectRefusal({"job", "resize", "p", "1"}, 2, "--compute");
  ExpectRefusal({"job", "resize", "p", "1", "--compute", "0"}, 2, "out of range");
  ExpectRefusal({"job", "resize", "q", "1", "--compute", "1"}, 3, "there is no pool 'q'");
  RunningCommand job({CommandPath(), "pagerank", "p:kron", "--repeat", "1000000000"});
  ASSERT_TRUE(job.AwaitError("the job takes"));
  const std::string number = std::to_string(job.pid());
  ExpectRefusal({"job", "resize", "p", number, "--compute", "2"}, 2, "keeps its compute nodes");
  Run({"job", "cancel", "p", number});
}

}  // namespace
}  // namespace slimgraph
