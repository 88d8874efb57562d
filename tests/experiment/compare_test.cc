#include "experiment/compare.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "experiment/raw_runs.h"
#include "tests/support/command.h"

namespace slimgraph::experiment {
namespace {

class TheComparison : public ::testing::Test {
 protected:
  // Writes a file with a run for each time. All use the same graph, in a folder named after the
  // file.
  std::string Runs(const std::string& name, const std::vector<double>& times, int count = 7,
                   int vertices = 10) {
    std::string text;
    for (const double time : times) {
      text += fmt::format(R"({{"schema":1,"command":"triangles","options":{{"GRAPH":"/{}/g"}},)"
                          R"("graph":{{"vertices":{}}},"result":{{"count":{}}},)"
                          R"("time":{{"run_s":{}}},"traffic":{{"bytes":100}}}})"
                          "\n",
                          name, vertices, count, time);
    }
    WriteText(scratch_.File(name), text);
    return scratch_.File(name);
  }

  ScratchDirectory scratch_;
};

TEST_F(TheComparison, ReportsNoChangeWithinTheNoise) {
  const auto same = Compare(Runs("a", {1.0, 1.1, 1.2}), Runs("b", {1.15, 1.3, 1.1}), 0.05);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->points, 1U);
  EXPECT_EQ(same->measures, 2U);
  EXPECT_TRUE(same->changes.empty());
  EXPECT_EQ(same->failures(0.05), 0U);
}

TEST_F(TheComparison, ReportsWhatIsWorseAndByHowMuch) {
  const std::string a = Runs("a", {1.0, 1.1, 1.2});
  const std::string b = Runs("b", {1.5, 1.3, 1.32});
  const auto worse = Compare(a, b, 0.05);
  ASSERT_TRUE(worse);
  ASSERT_EQ(worse->changes.size(), 1U);
  EXPECT_EQ(worse->changes[0].kind, Change::Kind::kWorse);
  EXPECT_EQ(worse->changes[0].measure, "time/run_s");
  EXPECT_NEAR(worse->changes[0].by, 0.2, 1e-9);
  EXPECT_EQ(worse->failures(0.05), 1U);
  EXPECT_EQ(worse->failures(0.25), 0U);
  EXPECT_EQ(Compare(b, a, 0.05)->failures(0), 0U) << "faster is not worse";
}

TEST_F(TheComparison, TreatsAChangedAnswerAsAFailure) {
  const auto other = Compare(Runs("a", {1.0}, 7), Runs("b", {1.0}, 8), 10);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->failures(10), 1U);
  EXPECT_EQ(Compare(Runs("a", {1.0}, 7, 10), Runs("b", {1.0}, 8, 11), 10)->failures(10), 0U)
      << "of another graph it may be another";
}

TEST_F(TheComparison, ComparesSingleRunsWithTheThreshold) {
  EXPECT_EQ(Compare(Runs("a", {1.0}), Runs("b", {1.04}), 0.05)->changes.size(), 0U);
  EXPECT_EQ(Compare(Runs("a", {1.0}), Runs("b", {1.06}), 0.05)->failures(0.05), 1U);
}

TEST_F(TheComparison, MoreThroughputIsBetter) {
  const auto file = [&](const char* name, double rate) {
    WriteText(scratch_.File(name),
              fmt::format(R"({{"command":"txn run","result":{{"throughput_per_s":{}}}}})", rate));
    return scratch_.File(name);
  };
  EXPECT_EQ(Compare(file("a", 100), file("b", 200), 0.05)->failures(0.05), 0U);
  EXPECT_EQ(Compare(file("a", 200), file("b", 100), 0.05)->failures(0.05), 1U);
}

TEST_F(TheComparison, RefusesFilesWithoutCommonOrValidRuns) {
  WriteText(scratch_.File("x"), "{\"command\":\"bfs\"}\n{\"command\":\"cc\"}\n");
  WriteText(scratch_.File("y"), "{\"command\":\"bc\"}\n{\"command\":\"sssp\"}\n");
  WriteText(scratch_.File("bad"), "{\"command\":\"bfs\"}\n{\"command\":\n");
  const auto nothing = Compare(scratch_.File("x"), scratch_.File("y"), 0);
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message.find("no run in common"), std::string::npos);
  const auto bad = Compare(scratch_.File("x"), scratch_.File("bad"), 0);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("bad:2"), std::string::npos) << bad.error().message;
  EXPECT_EQ(Compare(scratch_.File("x"), scratch_.File("none"), 0).error().kind, ErrorKind::kInput);
  EXPECT_EQ(Compare(scratch_.path(), scratch_.File("x"), 0).error().kind, ErrorKind::kInput);
}

TEST(RawRuns, AnIncompleteLastLineIsCutOff) {
  const ScratchDirectory scratch;
  std::vector<RawRun> none;
  const RawRun run{.study = "s",
                   .point = "bfs g",
                   .build = "b",
                   .inputs = "i",
                   .began = "now",
                   .seconds = 2,
                   .report = {}};
  {
    auto log = RunLog::Open(scratch.path(), "s", none);
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_TRUE(log->Add(run, R"({"command":"bfs","time":{"run_s":1}})"));
    ASSERT_TRUE(log->Add(run, R"({"command":"bfs","time":{"run_s":3}})"));
  }
  const std::string path = scratch.File("raw/s.jsonl");
  const std::string whole = ReadText(path);
  for (std::size_t cut = 1; cut < whole.size() / 2; cut += 7) {
    WriteText(path, whole.substr(0, whole.size() - cut));
    const auto read = ReadRuns(scratch.path());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->size(), 1U);
    std::vector<RawRun> runs;
    auto log = RunLog::Open(scratch.path(), "s", runs);
    ASSERT_TRUE(log);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].point, "bfs g");
    EXPECT_EQ(runs[0].seconds, 2);
    EXPECT_EQ(runs[0].report.NumberAt("/time/run_s"), 1);
    ASSERT_TRUE(log->Add(run, R"({"command":"bfs","time":{"run_s":3}})"));
    EXPECT_EQ(ReadText(path), whole);
  }
}

// Options had no types and no defaults in schema 1.
TEST_F(TheComparison, ReadsBothSchemas) {
  const auto write = [&](const std::string& name, const std::vector<std::string>& options,
                         const char* schema) {
    std::string text;
    for (std::size_t i = 0; i < options.size(); ++i) {
      text += fmt::format(R"({{"schema":{},"command":"cliques",{},)"
                          R"("time":{{"run_s":{}}}}})"
                          "\n",
                          schema, options[i], i + 1);
    }
    WriteText(scratch_.File(name), text);
    return scratch_.File(name);
  };
  const std::string one =
      write("1",
            {R"("options":{"GRAPH":"/a/g","k":4,"chunk-memory":"64K","json":"true"})",
             R"("options":{"GRAPH":"/a/g","k":4,"json":"true"})",
             R"("options":{"GRAPH":"/a/g","k":4,"threads":"2","json":"true"})"},
            "1");
  const std::string two =
      write("2",
            {R"("options":{"GRAPH":"/b/g","k":4,"chunk-memory":65536,"threads":1,"verify":false,)"
             R"("json":true},"given":["GRAPH","k","chunk-memory","json"])",
             R"("options":{"GRAPH":"/b/g","k":4,"chunk-memory":1048576,"threads":1,"verify":false,)"
             R"("json":true},"given":["GRAPH","k","json"])",
             R"("options":{"GRAPH":"/b/g","k":5,"chunk-memory":1048576,"threads":2,"verify":false,)"
             R"("json":true},"given":["GRAPH","k","threads","json"])"},
            "2");
  for (const auto& [before, after] : {std::pair(one, two), std::pair(two, one)}) {
    const auto compared = Compare(before, after, 0.05);
    ASSERT_TRUE(compared) << compared.error().message;
    EXPECT_EQ(compared->points, 2U);
    EXPECT_TRUE(compared->changes.empty()) << compared->changes[0].point;
    EXPECT_EQ(compared->only_before.size(), 1U);
    EXPECT_EQ(compared->only_after.size(), 1U);
  }
  const auto same = Compare(two, two, 0.05);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->points, 3U);
}

}  // namespace
}  // namespace slimgraph::experiment
