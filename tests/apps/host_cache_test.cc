// Jobs that read a pool's graphs through the cache of their host.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <numeric>

#include "slimgraph/base/clock.h"
#include "slimgraph/files/generate.h"
#include "tests/apps/pool_support.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

class PoolCaches : public PoolTest {
 protected:
  static void SetUpTestSuite() { StartPool({"--host-cache", "64M"}); }

  // Jobs use the cache if some lists are to be read.
  using Options = std::vector<std::string>;
  inline static const Options kOverTcp = {"--transport", "tcp"};
  inline static const Options kRead = {"--access", "read"};
  static Options HostOf(const char* node) { return {"--host-of", node}; }

  static JsonValue RunJob(std::vector<std::string> words, const Options& options = kOverTcp) {
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--verify", "--json"});
    const JsonValue report = Parse(Run(words));
    EXPECT_TRUE(report.IsTrue("/verified")) << words[0];
    return report;
  }
  static double BytesRead(const JsonValue& report) {
    return report.NumberAt("/traffic/by_kind/read/payload_bytes").value();
  }

  struct Cache {
    std::string graph;
    std::string view;
    pid_t agent = 0;
    double bytes = 0;
  };
  static std::vector<Cache> Caches(const std::string& pool = "p") {
    const JsonValue status = Parse(Run({"pool", "status", pool, "--json"}));
    std::vector<Cache> all;
    for (std::size_t i = 0;; ++i) {
      const std::string at = fmt::format("/result/caches/{}", i);
      if (status.Find(at) == nullptr) return all;
      all.push_back({status.TextAt(at + "/graph"), status.TextAt(at + "/view"),
                     std::atoi(status.TextAt(at + "/agent").c_str()),
                     status.NumberAt(at + "/bytes").value_or(0)});
    }
  }
  static pid_t AgentOf(const std::string& graph) {
    for (const Cache& cache : Caches()) {
      if (cache.graph == graph && cache.view.empty()) return cache.agent;
    }
    return 0;
  }
  static bool Await(const std::function<bool()>& holds) {
    const std::uint64_t start_ns = NowNs();
    while (!holds()) {
      if (SecondsSince(start_ns) > 20) return false;
      SleepFor(std::chrono::milliseconds(20));
    }
    return true;
  }
  // Loads p:kron's file under another name, of which no cache exists yet.
  static void LoadAs(const std::string& name) {
    Run({"pool", "load", "p", scratch_->File("kron.slim"), "--as", name});
  }
};

TEST_F(PoolCaches, LetALaterJobMoveNoLists) {
  std::vector<std::vector<std::string>> programs = kVertexPrograms;
  programs.insert(programs.end(), {{"triangles"}, {"motifs", "-k", "3"}, {"cliques", "-k", "4"}});
  for (std::size_t i = 0; i < programs.size(); ++i) {
    for (const char* const compute : {"1", "2"}) {
      const std::string name = fmt::format("g{}-{}", i, compute);
      LoadAs(name);
      std::vector<std::string> words = programs[i];
      words.insert(words.begin() + 1, "p:" + name);
      words.insert(words.end(), {"--compute", compute});
      if (i % 2 == 0) words.insert(words.end(), {"--network", "tcp10"});
      const Options options = i % 3 == 0 ? kOverTcp : i % 3 == 1 ? kRead : HostOf("1");
      const double first = BytesRead(RunJob(words, options));
      words.insert(words.end(), {"--edge-cache", "0"});
      const double second = BytesRead(RunJob(words, options));
      // A source may have no neighbours. Compute nodes that count patterns together also read words
      // of each other. Which lists cc needs on two of them depends on which one is faster.
      const bool has_sources = words[2].starts_with("--source");
      const bool only_lists =
          (i < kVertexPrograms.size() && words[0] != "cc") || std::string("1") == compute;
      EXPECT_TRUE(first > 0 || has_sources) << words[0];
      EXPECT_TRUE(second == 0 || !only_lists) << words[0] << " reads " << second;
      Run({"pool", "drop", "p", name});
    }
  }
}

// Compute nodes that have just started find what the others had fetched.
TEST_F(PoolCaches, OutliveAChangeOfComputeNodes) {
  LoadAs("moving");
  RunJob({"pagerank", "p:moving", "--edge-cache", "0"});
  const JsonValue moved = RunJob({"pagerank", "p:moving", "--compute-schedule", "1@0,3@4,2@9"});
  EXPECT_EQ(Numbers(moved, "/phases/compute"), (std::vector<double>{1, 3, 2}));
  EXPECT_EQ(BytesRead(moved), 0);
  Run({"pool", "drop", "p", "moving"});
}

// Each host that is imitated has its own.
TEST_F(PoolCaches, AreThoseOfTheHostsThatAreImitated) {
  LoadAs("hosts");
  const std::vector<std::string> job = {"pagerank", "p:hosts", "--edge-cache", "0"};
  const double all = BytesRead(RunJob(job, kRead));
  for (const char* const node : {"0", "1", "2"}) {
    const double cold = BytesRead(RunJob(job, HostOf(node)));
    EXPECT_GT(cold, all / 2) << node;
    EXPECT_LT(cold, all * 0.9) << node;
  }
  for (const char* const node : {"2", "0", "1"}) {
    EXPECT_EQ(BytesRead(RunJob(job, HostOf(node))), 0) << node;
  }
  EXPECT_TRUE(Await([] { return Caches().size() == 4; }));
  EXPECT_NE(Run({"pool", "status", "p"}).find("  cache on node2 of hosts  "), std::string::npos);
  Run({"pool", "drop", "p", "hosts"});
  EXPECT_TRUE(Await([] { return Caches().empty(); }));
}

TEST_F(PoolCaches, AreSharedByEightJobsAtOnce) {
  const std::vector<std::vector<std::string>> kPrograms = {{"bfs", "--source", "1"},
                                                           {"sssp", "--source", "1"},
                                                           {"pagerank"},
                                                           {"cc"},
                                                           {"bc", "--sources", "1,2,3"}};
  for (const Options& options : {kOverTcp, kRead, HostOf("1")}) {
    double most = 0;
    for (const auto& program : kPrograms) {
      LoadAs("alone");
      std::vector<std::string> words = program;
      words.insert(words.begin() + 1, "p:alone");
      most = std::max(most, BytesRead(RunJob(words, options)));
      Run({"pool", "drop", "p", "alone"});
    }
    LoadAs("busy");
    std::vector<std::unique_ptr<RunningCommand>> jobs;
    for (std::size_t i = 0; i < 8; ++i) {
      std::vector<std::string> words = kPrograms[i % kPrograms.size()];
      words.insert(words.begin(), CommandPath());
      words.insert(words.begin() + 2, "p:busy");
      words.insert(words.end(), options.begin(), options.end());
      words.insert(words.end(), {"--verify", "--json"});
      jobs.push_back(
          std::make_unique<RunningCommand>(words, std::vector<std::string>{"TEST_MARK=pool"}));
    }
    double all = 0;
    for (auto& job : jobs) {
      const CommandEnd end = job->Wait();
      ASSERT_EQ(end.code, 0) << end.err;
      const JsonValue report = Parse(end.out);
      EXPECT_TRUE(report.IsTrue("/verified"));
      all += BytesRead(report);
    }
    EXPECT_LE(all, 1.3 * most) << options[0];
    EXPECT_GT(all, 0) << options[0];
    EXPECT_TRUE(Await([] { return Caches().size() == 1 && Caches()[0].bytes > 0; }));
    Run({"pool", "drop", "p", "busy"});
    EXPECT_TRUE(Await([] { return Caches().empty(); }));
  }
}

// A job whose agent is killed, or stopped, reads from the pool itself. Once the agent has ended,
// the next job starts another one.
TEST_F(PoolCaches, AreNotNeeded) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    LoadAs("lonely");
    RunJob({"bfs", "p:lonely", "--source", "1"});
    const pid_t agent = AgentOf("lonely");
    ASSERT_GT(agent, 0);
    std::vector<std::string> words{CommandPath(),  "pagerank",     "p:lonely",
                                   "--iterations", "300000",       "--transport",
                                   "tcp",          "--edge-cache", "0"};
    RunningCommand job(words, {"TEST_MARK=pool"});
    ASSERT_TRUE(Await([] {
      return Parse(Run({"job", "list", "p", "--json"})).Find("/result/jobs/0") != nullptr;
    }));
    ::kill(agent, signal);
    RunJob({"sssp", "p:lonely", "--source", "1", "--edge-cache", "0"});
    ::kill(job.pid(), SIGINT);
    EXPECT_EQ(job.Wait().code, 130);
    ::kill(agent, SIGCONT);
    // Its deputies have given it up while it was silent, so it ends as well.
    EXPECT_TRUE(Await([&] { return ::kill(agent, 0) != 0; }));
    RunJob({"sssp", "p:lonely", "--source", "1"});
    EXPECT_EQ(BytesRead(RunJob({"sssp", "p:lonely", "--source", "1"})), 0);
    Run({"pool", "drop", "p", "lonely"});
    EXPECT_TRUE(Await([] { return Caches().empty(); }));
  }
}

// Another graph under the same name has a cache of its own.
TEST_F(PoolCaches, BelongToOneLoad) {
  for (int k = 0; k < 3; ++k) {
    GenerateOptions graph;
    graph.out = scratch_->File(fmt::format("again{}.slim", k));
    graph.scale = 9;
    graph.seed = random_();
    Unwrap(Generate(graph));
    Run({"pool", "load", "p", graph.out, "--as", "again"});
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(BytesRead(RunJob({"pagerank", "p:again"})) > 0, i == 0);
      EXPECT_EQ(BytesRead(RunJob({"triangles", "p:again"})) > 0, i == 0);
    }
    Run({"pool", "drop", "p", "again"});
  }
}

// A view that only a cache uses is dropped when another one needs its room.
TEST_F(PoolCaches, KeepNoViewInThePool) {
  const std::vector<std::vector<std::string>> kJobs = {{"triangles"},
                                                       {"sssp", "--source", "1", "--unit-weights"}};
  const auto run = [&](std::size_t which) {
    std::vector<std::string> words = kJobs[which];
    words.insert(words.begin() + 1, "tight:kron");
    RunJob(words);
  };
  std::vector<std::uint64_t> bytes;  // of the graph and its two views
  for (const bool is_tight : {false, true}) {
    std::vector<std::string> start{"pool", "start", "tight", "--nodes", "1", "--host-cache", "1M"};
    if (is_tight) {
      const std::uint64_t most = bytes[0] + std::max(bytes[1], bytes[2]) + 1000;
      start.insert(start.end(), {"--memory", fmt::format("{}", most)});
    }
    Run(start);
    Run({"pool", "load", "tight", scratch_->File("kron.slim")});
    for (const std::size_t which : {0U, 1U, 0U}) run(which);
    const JsonValue status = Parse(Run({"pool", "status", "tight", "--json"}));
    EXPECT_EQ(status.Find("/result/graphs/2") == nullptr, is_tight);
    EXPECT_EQ(Caches("tight").size(), is_tight ? 1U : 2U);
    for (std::size_t i = 0; i < 3 && !is_tight; ++i) {
      const auto found = status.NumberAt(fmt::format("/result/graphs/{}/bytes", i));
      bytes.push_back(static_cast<std::uint64_t>(found.value_or(0)));
    }
    Run({"pool", "stop", "tight"});
  }
}

TEST_F(PoolCaches, HaveALimitAndEndWithThePool) {
  Run({"pool", "start", "small", "--nodes", "2", "--host-cache", "40K", "--encrypt"});
  Run({"pool", "load", "small", scratch_->File("kron.slim")});
  for (const char* const compute : {"1", "2"}) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_GT(BytesRead(RunJob({"pagerank", "small:kron", "--compute", compute})), 0);
    }
  }
  RunJob({"triangles", "small:kron"});
  ASSERT_TRUE(Await([] { return Caches("small").size() == 2; }));
  for (const Cache& cache : Caches("small")) {
    EXPECT_TRUE(Await([&] { return Caches("small")[0].bytes > 30'000; }));
    EXPECT_LE(cache.bytes, 40 << 10);
  }
  const std::string status = Run({"pool", "status", "small"});
  EXPECT_NE(status.find("  cache of kron  40.0 KiB of 40.0 KiB\n"), std::string::npos) << status;
  EXPECT_NE(status.find("  cache of kron for mining (upper)  "), std::string::npos) << status;
  EXPECT_EQ(Run({"job", "list", "small"}), "no jobs\n");
  const std::string metrics = Run({"pool", "metrics", "small"});
  EXPECT_NE(metrics.find("slimgraph_pool_cache_bytes{pool=\"small\",agent=\""), std::string::npos);
  EXPECT_NE(metrics.find("slimgraph_pool_jobs{pool=\"small\",graph=\"kron\"} 0\n"),
            std::string::npos);
  const auto caches = Caches("small");
  Run({"pool", "stop", "small"});  // agents are no jobs
  for (const Cache& cache : caches) {
    EXPECT_TRUE(Await([&] { return ::kill(cache.agent, 0) != 0; }));
  }
  const CommandEnd by_hand = RunSlimgraph({"pool-cache"});
  EXPECT_EQ(by_hand.code, 2);
  EXPECT_EQ(by_hand.err, "slimgraph: pool-cache is started by a job on a pool, not by hand\n");
}

}  // namespace
}  // namespace slimgraph
