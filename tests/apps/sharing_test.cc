// Jobs of users with whom a pool is shared: each on a fresh job, verified.
#include <gtest/gtest.h>

#include <cstdlib>

#include "slimgraph/base/confine.h"
#include "tests/apps/pool_support.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

// The tests run as such a user, whose folder has the pool p under the name "shared".
class SharedPool : public PoolTest {
 protected:
  static void SetUpTestSuite() {
    StartPool({"--host-cache", "64M"});
    Run({"pool", "share", "p", scratch_->File("shared")});
    owners_ = std::getenv("SLIMGRAPH_POOLS");
    ::setenv("SLIMGRAPH_POOLS", scratch_->File("readers").c_str(), 1);
    Run({"pool", "add", scratch_->File("shared"), "--as", "shared"});
  }
  static void TearDownTestSuite() {
    ::setenv("SLIMGRAPH_POOLS", owners_.c_str(), 1);
    PoolTest::TearDownTestSuite();
  }
  void SetUp() override {
    if (!CanConfine()) GTEST_SKIP() << "this kernel has no Landlock";
  }
  static void RunJob(std::vector<std::string> words, const std::vector<std::string>& setting) {
    words.insert(words.begin() + 1, "shared:kron");
    words.insert(words.end(), setting.begin(), setting.end());
    words.insert(words.end(), {"--verify", "--json"});
    const JsonValue report = Parse(Run(words));
    EXPECT_TRUE(report.IsTrue("/verified")) << words[0];
    EXPECT_EQ(report.TextAt("/cluster/transport"), "tcp") << words[0];
  }

  static std::string owners_;
};
std::string SharedPool::owners_;

TEST_F(SharedPool, RunsEveryApplicationOnEveryMemorySide) {
  const std::vector<std::vector<std::string>> kSettings = {
      {},
      {"--memory-side", "serve"},
      {"--compute", "2", "--memory-side", "reduce"},
      {"--compute", "2", "--cache", "none", "--transport", "tcp"},
      {"--compute", "4", "--memory-side", "auto"},
  };
  std::size_t turn = random_() % kSettings.size();
  for (const auto& program : kVertexPrograms) {
    for (int k = 0; k < 2; ++k) RunJob(program, kSettings[turn++ % kSettings.size()]);
  }
  const std::vector<std::vector<std::string>> kMining = {
      {"triangles"}, {"cliques", "-k", "4"}, {"motifs", "-k", "3"}, {"ktruss"}, {"lcc"}};
  for (const auto& command : kMining) {
    for (const char* const compute : {"1", "3"}) RunJob(command, {"--compute", compute});
  }
  EXPECT_NE(Run({"pool", "status", "shared"}).find("  cache of kron"), std::string::npos);
}

// Its deputies cannot open the file of a pattern.
TEST_F(SharedPool, MatchesPatternsInFiles) {
  WriteText(scratch_->File("own"), "# a tail\n7 9\n9 4\n4 7\n4 12\n");
  const auto count = [](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"match", "shared:kron", "--json", "--no-formulae"};
    all.insert(all.end(), words.begin(), words.end());
    return Parse(Run(all)).NumberAt("/result/count").value_or(-1);
  };
  const double expected = count({"--pattern", "tailed-triangle"});
  EXPECT_GT(expected, 0);
  for (const std::string& pattern : {scratch_->File("own"), std::string("1-2,2-3,3-1,3-4")}) {
    EXPECT_EQ(count({"--pattern", pattern, "--compute", "2"}), expected);
    EXPECT_EQ(count({"--pattern=" + pattern}), expected);
    const JsonValue several =
        Parse(Run({"run", "shared:kron", "triangles", "--json",
                   "match:pattern=" + pattern + ",no-formulae", "--compute", "2"}));
    EXPECT_EQ(several.NumberAt("/parts/1/result/count"), expected);
  }
}

TEST_F(SharedPool, ResizesAndSurvives) {
  RunJob({"pagerank"}, {"--compute-schedule", "1@0,3@4,2@9"});
  RunJob({"sssp", "--source", "1"}, {"--compute", "2", "--survive"});
  RunningCommand job({CommandPath(), "pagerank", "shared:kron", "--iterations", "1000000000"});
  ASSERT_TRUE(job.AwaitError("the job takes"));
  const std::string number = std::to_string(job.pid());
  EXPECT_EQ(Run({"job", "resize", "shared", number, "--compute", "2"}),
            "job " + number + ": 2 compute nodes instead of 1\n");
  Run({"job", "cancel", "shared", number});
  EXPECT_EQ(job.Wait().code, 4);
}

TEST_F(SharedPool, IsShownAsOneForReading) {
  EXPECT_EQ(Run({"pool", "list"}), "shared: 3 of 3 nodes run, for reading\n");
  EXPECT_NE(Run({"pool", "status", "shared"}).find(", for reading\n"), std::string::npos);
  EXPECT_TRUE(Parse(Run({"pool", "status", "shared", "--json"})).IsTrue("/pool/read_only"));
  EXPECT_NE(Run({"pool", "metrics", "shared"}).find("pool=\"shared\""), std::string::npos);
}

TEST_F(SharedPool, RefusesInOneLineWhatItsReadersMayNot) {
  const std::string file = scratch_->File("kron.slim");
  ExpectRefusal({"pool", "load", "shared", file, "--as", "x"}, 4,
                "whoever has started it loads graphs");
  ExpectRefusal({"pool", "drop", "shared", "kron"}, 4, "whoever has started it drops graphs");
  ExpectRefusal({"pool", "stop", "shared", "--now"}, 4,
                "'slimgraph pool forget shared' forgets it");
  ExpectRefusal({"pool", "start", "shared"}, 4, "whoever has started it starts its nodes again");
  ExpectRefusal({"pool", "share", "shared", scratch_->File("x")}, 4,
                "whoever has started it shares it");
  ExpectRefusal({"pagerank", "shared:kron", "--transport", "shm"}, 2, "run over --transport tcp");
  ExpectRefusal({"pool", "add", file}, 3, "is not a pool's descriptor");
  ExpectRefusal({"pool", "add", scratch_->File("shared"), "--as", "a/b"}, 2,
                "is no name for a pool");
  ExpectRefusal({"pool", "forget", "p"}, 3, "there is no pool 'p'");
  EXPECT_NE(Run({"pool", "status", "shared"}).find("graph kron"), std::string::npos);
}

}  // namespace
}  // namespace slimgraph
