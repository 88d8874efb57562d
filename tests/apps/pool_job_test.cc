// Jobs on graphs of a pool, as a user runs them: each on a fresh job, verified.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/apps/pool_support.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

class PoolJobs : public PoolTest {
 protected:
  static void SetUpTestSuite() {
    StartPool();
    std::string arcs;
    for (int i = 0; i < 4000; ++i) {
      arcs += std::to_string(10 + 3 * (random_() % 700)) + " " +
              std::to_string(10 + 3 * (random_() % 700)) + "\n";
    }
    WriteText(scratch_->File("arcs.txt"), arcs);
    Run({"convert", scratch_->File("arcs.txt"), scratch_->File("arcs.slim"), "--directed"});
    Run({"pool", "load", "p", scratch_->File("arcs.slim"), "--as", "links"});
  }
};

TEST_F(PoolJobs, AgreeWithSerialCodesOnAnyNumberOfComputeNodes) {
  const std::vector<std::vector<std::string>> kSettings = {
      {"--compute", "1"},
      {"--compute", "1", "--memory-side", "serve", "--transport", "tcp"},
      {"--compute", "2", "--cache", "none"},
      {"--compute", "2", "--memory-side", "serve", "--cache", "bitmap", "--threads", "2"},
      {"--compute", "3", "--transport", "tcp", "--edge-cache", "10%", "--mode", "pull"},
      {"--compute", "4", "--mode", "push", "--cache", "index"},
      {"--compute", "1", "--memory-side", "reduce", "--mode", "pull", "--transport", "tcp"},
      {"--compute", "2", "--memory-side", "auto", "--edge-cache", "0", "--threads", "2"},
      {"--compute", "4", "--memory-side", "reduce", "--delegate", "node"},
  };
  std::size_t turn = random_() % kSettings.size();
  for (const auto& program : kVertexPrograms) {
    for (int k = 0; k < 3; ++k) {  // each setting occurs with every third program
      std::vector<std::string> words = program;
      words.insert(words.begin() + 1, "p:kron");
      const auto& setting = kSettings[turn++ % kSettings.size()];
      words.insert(words.end(), setting.begin(), setting.end());
      words.insert(words.end(), {"--verify", "--json"});
      EXPECT_NE(Run(words).find("\"verified\":true"), std::string::npos);
    }
  }
}

// The lists are made when the first command needs them.
TEST_F(PoolJobs, MineLikeBruteForceOnAnyNumberOfComputeNodes) {
  std::vector<std::string> make = {
      "gen",      "kron", "--scale", "7",
      "--degree", "6",    "--seed",  std::to_string(random_() % 1000000)};
  if (random_() % 2 == 0) make.push_back("--coded");
  make.insert(make.end(), {"--output", scratch_->File("small.slim")});
  Run(make);
  Run({"pool", "load", "p", scratch_->File("small.slim")});
  const std::vector<std::vector<std::string>> kCommands = {
      {"triangles"},
      {"cliques", "-k", "4"},
      {"motifs", "-k", "4"},
      {"match", "--pattern", "house"},
      {"match", "--pattern", "4-path", "--no-formulae"},
      {"local", "--triangles", "--output", scratch_->File("local.csv")},
      {"local", "--clustering", "--output", scratch_->File("local.csv")},
      {"ktruss"}};
  const std::vector<std::vector<std::string>> kSettings = {
      {"--compute", "1"},
      {"--compute", "2", "--transport", "tcp", "--edge-cache", "0"},
      {"--compute", "3", "--threads", "2", "--fetch", "read", "--reuse", "chunk"},
      {"--compute", "5", "--chunk-memory", "0"},
  };
  std::size_t turn = random_() % kSettings.size();
  for (const auto& command : kCommands) {
    for (int k = 0; k < 3; ++k) {
      std::vector<std::string> words = command;
      words.insert(words.begin() + 1, "p:small");
      const auto& setting = kSettings[turn++ % kSettings.size()];
      words.insert(words.end(), setting.begin(), setting.end());
      words.insert(words.end(), {"--verify", "--json"});
      EXPECT_NE(Run(words).find("\"verified\":true"), std::string::npos);
    }
  }
  for (const char* const compute : {"1", "2"}) {
    Run({"local", "p:links", "--clustering", "--compute", compute, "--verify", "--output",
         scratch_->File("pooled.csv")});
    Run({"local", scratch_->File("arcs.slim"), "--clustering", "--output",
         scratch_->File("filed.csv")});
    EXPECT_EQ(ReadText(scratch_->File("pooled.csv")), ReadText(scratch_->File("filed.csv")));
  }
  const std::string status = Run({"pool", "status", "p"});
  for (const char* const view :
       {"small for mining (all)", "small for mining (upper)", "links for mining (arcs)"}) {
    EXPECT_NE(status.find(view), std::string::npos) << status;
  }
  const std::string several = Run({"run", "p:small", "triangles", "cliques:k=5", "--json"});
  EXPECT_NE(several.find("\"cliques:k=5\""), std::string::npos) << several;
}

TEST_F(PoolJobs, ReduceInTheirDeputies) {
  const auto report =
      Unwrap(ParseJson(Run({"pagerank", "p:kron", "--compute", "2", "--memory-side", "reduce",
                            "--iterations", "7", "--mode", "pull", "--verify", "--json"}),
                       "pagerank"));
  EXPECT_EQ(report.NumberAt("/steps/reduce"), 7);
  EXPECT_TRUE(report.IsTrue("/verified"));
}

TEST_F(PoolJobs, OnDirectedGraphsUseOriginalIds) {
  for (const char* const compute : {"1", "2"}) {
    for (const char* const program : {"pagerank", "cc"}) {
      const std::string pooled = scratch_->File("pooled");
      const std::string filed = scratch_->File("filed");
      Run({program, "p:links", "--compute", compute, "--verify", "--output", pooled});
      Run({program, scratch_->File("arcs.slim"), "--verify", "--output", filed});
      const std::string all = ReadText(pooled);
      EXPECT_EQ(all.substr(0, all.find(' ')), "10");
      if (program[0] == 'c') {
        EXPECT_EQ(all, ReadText(filed));
      }
    }
  }
}

// Weights of 1, and directed graphs as undirected ones, are views.
TEST_F(PoolJobs, OnOtherFormsOfAGraph) {
  const std::vector<std::vector<std::string>> kJobs = {
      {"sssp", "kron", "--source", "1", "--unit-weights"},
      {"sssp", "links", "--source", "10", "--unit-weights"},
      {"cdlp", "links"},
      {"kcore", "links"},
      {"mis", "links", "--seed", "3"},
      {"kcore", "kron"}};
  const std::vector<std::vector<std::string>> kSettings = {
      {"--compute", "1"},
      {"--compute", "2", "--transport", "tcp", "--edge-cache", "0"},
      {"--compute", "3", "--memory-side", "serve"},
      {"--compute-schedule", "2@0,1@1,3@2"}};
  for (const auto& job : kJobs) {
    const std::string filed = scratch_->File("filed");
    std::vector<std::string> on_file = job;
    on_file[1] = scratch_->File(job[1] == "kron" ? "kron.slim" : "arcs.slim");
    on_file.insert(on_file.end(), {"--verify", "--output", filed, "--json"});
    const JsonValue right = Parse(Run(on_file));
    for (const auto& setting : kSettings) {
      const std::string pooled = scratch_->File("pooled");
      std::vector<std::string> words = job;
      words[1] = "p:" + job[1];
      words.insert(words.end(), setting.begin(), setting.end());
      words.insert(words.end(), {"--verify", "--output", pooled, "--json"});
      const JsonValue report = Parse(Run(words));
      EXPECT_TRUE(report.IsTrue("/verified")) << job[0];
      EXPECT_TRUE(ReadText(pooled) == ReadText(filed)) << job[0] << " " << job[1];
      EXPECT_EQ(report.IsTrue("/graph/directed"), right.IsTrue("/graph/directed"));
      EXPECT_EQ(report.NumberAt("/graph/edges"), right.NumberAt("/graph/edges"));
    }
  }
  Run({"run", "p:links", "kcore", "mis:seed=3", "--verify"});
  const std::string status = Run({"pool", "status", "p"});
  for (const char* const form :
       {"kron with weights of 1", "links with weights of 1", "links without directions"}) {
    EXPECT_NE(status.find(form), std::string::npos) << status;
  }
}

// Only one part of the graph has the last weight, and all nodes must know of it.
TEST_F(PoolJobs, KnowTheRangeOfAllWeights) {
  const auto load = [](const std::string& last_weight, const char* directions) {
    std::string edges;
    for (int v = 0; v < 500; ++v) {
      edges += fmt::format("{} {} {}\n", v, v + 1, v == 499 ? last_weight : "1000000000");
    }
    WriteText(scratch_->File("chain.txt"), edges);
    Run({"convert", scratch_->File("chain.txt"), scratch_->File("chain.slim"), "--weighted",
         directions});
    Run({"pool", "load", "p", scratch_->File("chain.slim")});
  };
  for (const char* const directions : {"--undirected", "--directed"}) {
    for (const char* const weight : {"2000000000", "8000000000", "2.5"}) {
      load(weight, directions);
      for (const char* const compute : {"1", "3"}) {
        const JsonValue report = Parse(
            Run({"sssp", "p:chain", "--source", "0", "--compute", compute, "--verify", "--json"}));
        EXPECT_TRUE(report.IsTrue("/verified")) << weight;
        EXPECT_GE(report.NumberAt("/result/farthest").value_or(0), 499e9) << weight;
      }
      Run({"pool", "drop", "p", "chain"});
    }
    for (const char* const weight : {"-1", "-0.5"}) {
      load(weight, directions);
      const CommandEnd end = RunSlimgraph({"sssp", "p:chain", "--source", "0", "--compute", "2"});
      EXPECT_EQ(end.code, 3) << end.err;
      const std::string said = fmt::format("negative weight, {}: sssp takes none", weight);
      EXPECT_NE(end.err.find(said), std::string::npos) << end.err;
      Run({"sssp", "p:chain", "--source", "0", "--unit-weights", "--verify"});
      Run({"pool", "drop", "p", "chain"});
    }
  }
}

TEST_F(PoolJobs, ScanTheListsOfTheFile) {
  for (const auto& [graph, file] :
       {std::pair{"p:kron", "kron.slim"}, std::pair{"p:links", "arcs.slim"}}) {
    const auto checksum = [](const JsonValue& report) {
      EXPECT_TRUE(report.IsTrue("/verified"));
      return report.TextAt("/result/checksum");
    };
    const std::string right = checksum(Parse(Run({"scan", scratch_->File(file), "--json"})));
    const std::vector<std::vector<std::string>> kSettings = {
        {}, {"--compute", "3", "--threads", "2"}, {"--transport", "tcp", "--repeat", "2"}};
    for (const auto& setting : kSettings) {
      std::vector<std::string> words{"scan", graph, "--json"};
      words.insert(words.end(), setting.begin(), setting.end());
      EXPECT_EQ(checksum(Parse(Run(words))), right);
    }
  }
}

TEST_F(PoolJobs, ReadNoListsFromTheFile) {
  const std::string path = scratch_->File("gone.slim");
  Run({"gen", "kron", "--scale", "8", "--output", path});
  Run({"pool", "load", "p", path});
  const std::string before = Run({"cc", "p:gone", "--compute", "2", "--json"});
  std::remove(path.c_str());
  const std::string after = Run({"cc", "p:gone", "--compute", "2", "--json"});
  EXPECT_NE(after.find("\"components\""), std::string::npos) << after;
  const CommandEnd verified = RunSlimgraph({"cc", "p:gone", "--verify"});
  EXPECT_EQ(verified.code, 3);
  EXPECT_NE(verified.err.find("gone.slim"), std::string::npos) << verified.err;
  Run({"pool", "drop", "p", "gone"});
}

TEST_F(PoolJobs, LeaveNoComputeNodeThatIsStopped) {
  RunningCommand job(
      {CommandPath(), "pagerank", "p:kron", "--compute", "2", "--iterations", "1000000000"});
  ASSERT_TRUE(job.AwaitError("the job takes"));
  pid_t other = 0;
  for (const pid_t process : job.Processes()) {
    if (process != job.pid()) other = process;
  }
  ASSERT_NE(other, 0);
  ::kill(other, SIGSTOP);
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("node 1: has not answered"), std::string::npos) << end.err;
  AwaitEnd(other);
}

TEST_F(PoolJobs, EndWhenTheyAreCancelled) {
  RunningCommand job(
      {CommandPath(), "pagerank", "p:kron", "--compute", "2", "--iterations", "1000000000"});
  ASSERT_TRUE(job.AwaitError("the job takes"));
  const std::string number = std::to_string(job.pid());
  EXPECT_NE(Run({"job", "list", "p"}).find("job " + number + "  pagerank p:kron"),
            std::string::npos);
  const std::string metrics = Run({"pool", "metrics", "p"});
  EXPECT_NE(metrics.find("slimgraph_pool_jobs{pool=\"p\",graph=\"kron\"} 1\n"), std::string::npos)
      << metrics;
  Run({"job", "cancel", "p", number});
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("the job has ended: it was cancelled"), std::string::npos) << end.err;
  EXPECT_EQ(end.err.find("died"), std::string::npos) << end.err;
  EXPECT_EQ(Run({"job", "list", "p"}), "no jobs\n");
}

TEST_F(PoolJobs, OfAPoolThatEncrypts) {
  Run({"pool", "start", "sealed", "--nodes", "2", "--encrypt"});
  Run({"pool", "load", "sealed", scratch_->File("kron.slim")});
  EXPECT_NE(Run({"pool", "status", "sealed"}).find(", encrypted\n"), std::string::npos);
  for (const char* const transport : {"tcp", "shm"}) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"pagerank", "--compute-schedule", "1@0,3@4,2@9", "--edge-cache", "0"},
             {"sssp", "--source", "1", "--memory-side", "serve", "--compute", "2"},
             {"ktruss", "--compute", "2"}}) {
      std::vector<std::string> all = words;
      all.insert(all.begin() + 1, "sealed:kron");
      all.insert(all.end(), {"--transport", transport, "--verify", "--json"});
      const JsonValue report = Parse(Run(all));
      EXPECT_TRUE(report.IsTrue("/verified")) << words[0];
      EXPECT_TRUE(report.IsTrue("/cluster/encrypted")) << words[0];
    }
  }
  Run({"pool", "stop", "sealed"});
  const CommandEnd refused = RunSlimgraph({"pool", "start", "p", "--encrypt"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("runs without --encrypt"), std::string::npos) << refused.err;
}

double BytesOfLists(const JsonValue& report) {
  return report.NumberAt("/traffic/by_stage/lists/bytes").value_or(0) +
         report.NumberAt("/traffic/by_stage/cliques/bytes").value_or(0);
}

TEST_F(PoolJobs, UseListsWhereTheyAreUnlessTheyAreToBeRead) {
  for (const std::vector<std::string>& job : std::vector<std::vector<std::string>>{
           {"pagerank"}, {"kcore"}, {"triangles", "--steal", "off"}}) {
    for (const char* const compute : {"1", "2"}) {
      const auto bytes_with = [&](const std::vector<std::string>& options) {
        std::vector<std::string> words = {job[0], "p:kron"};
        words.insert(words.end(), job.begin() + 1, job.end());
        words.insert(words.end(), {"--compute", compute, "--verify", "--json"});
        words.insert(words.end(), options.begin(), options.end());
        const JsonValue report = Parse(Run(words));
        EXPECT_TRUE(report.IsTrue("/verified"));
        return BytesOfLists(report);
      };
      EXPECT_LT(bytes_with({"--access", "in-place"}), 2'000) << job[0];
      const double read = bytes_with({"--access", "read"});
      EXPECT_GT(read, 10'000) << job[0];
      EXPECT_NEAR(bytes_with({"--network", "fdr"}), read, read / 4) << job[0];
      // On the hosts of each of three nodes, two thirds are read.
      double on_hosts = 0;
      for (const char* const node : {"0", "1", "2"}) {
        const double on_host = bytes_with({"--host-of", node});
        EXPECT_LT(on_host, read * 0.9) << job[0];
        on_hosts += on_host;
      }
      EXPECT_NEAR(on_hosts, 2 * read, read / 4) << job[0];
      EXPECT_LT(bytes_with({"--host-of", "1", "--network", "fdr"}), read * 0.9) << job[0];
    }
  }
  ExpectRefusal({"pagerank", "p:kron", "--host-of", "3"}, 2,
                "--host-of 3: pool 'p' has nodes 0 to 2");
  ExpectRefusal({"pagerank", "p:kron", "--host-of", "1", "--transport", "tcp"}, 2,
                "--host-of imitates hosts over shm");
  ExpectRefusal({"pagerank", "p:kron", "--host-of", "1", "--access", "read"}, 2,
                "--access and --host-of exclude each other");
  ExpectRefusal({"pagerank", scratch_->File("kron.slim"), "--host-of", "1"}, 2,
                "--host-of is for a graph of a pool, NAME:G");
  const CommandEnd refused =
      RunSlimgraph({"pagerank", scratch_->File("kron.slim"), "--access", "read"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err, "slimgraph: --access is for a graph of a pool, NAME:G\n");
}

// Of the lists that are read, some are kept decoded, some coded, and some not. Those in place are
// never kept coded.
TEST_F(PoolJobs, KeepSomeListsOnImitatedHosts) {
  for (const std::vector<std::string>& job : std::vector<std::vector<std::string>>{
           {"sssp", "p:kron", "--source", "1"}, {"pagerank", "p:kron"}, {"kcore", "p:kron"}}) {
    for (const char* const room : {"15%", "30%", "60%"}) {
      for (const char* const node : {"0", "1", "2"}) {
        std::vector<std::string> words = job;
        words.insert(words.end(), {"--host-of", node, "--edge-cache", room, "--delegate", "node",
                                   "--compute", "2", "--verify"});
        EXPECT_NE(Run(words).find("equals that of a serial computation"), std::string::npos);
      }
    }
  }
}

TEST_F(PoolJobs, TakeNoMoreThanTheirQuota) {
  constexpr double kRate = 1 << 20;
  constexpr double kPoolNodes = 2;
  Run({"pool", "start", "small", "--nodes", "2", "--job-memory", "64M", "--job-bandwidth", "1M"});
  EXPECT_NE(Run({"pool", "status", "small"})
                .find("a job may take 64.0 MiB of memory and 1.0 MiB a second of each node\n"),
            std::string::npos);
  Run({"pool", "load", "small", scratch_->File("kron.slim")});
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--access", "read"},
                                             {"--transport", "tcp", "--memory-side", "serve"},
                                             {"--access", "read", "--compute", "2"}}) {
    std::vector<std::string> words = {"pagerank",     "small:kron", "--iterations", "30",
                                      "--edge-cache", "0",          "--verify",     "--json"};
    words.insert(words.end(), options.begin(), options.end());
    const JsonValue report = Parse(Run(words));
    EXPECT_TRUE(report.IsTrue("/verified"));
    const double bytes =
        BytesOfLists(report) + report.NumberAt("/traffic/by_stage/serve/bytes").value_or(0);
    EXPECT_GT(bytes, 100'000);
    // What is sent last does not wait for its own time.
    EXPECT_GE(report.NumberAt("/time/run_s").value_or(0), bytes / kRate / kPoolNodes * 0.9);
  }
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"sssp", "small:kron", "--source", "1", "--memory-side", "reduce", "--edge-cache", "0"},
           {"triangles", "small:kron", "--transport", "tcp"}}) {
    for (const char* const compute : {"1", "2"}) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {"--compute", compute, "--verify", "--json"});
      EXPECT_TRUE(Parse(Run(all)).IsTrue("/verified")) << words[0] << " at " << compute;
    }
  }
  Run({"pool", "stop", "small"});
  Run({"pool", "start", "small", "--nodes", "2", "--job-memory", "8K"});
  Run({"pool", "load", "small", scratch_->File("kron.slim")});
  const CommandEnd refused = RunSlimgraph({"triangles", "small:kron"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_NE(refused.err.find("of the pool, and may take 8.0 KiB there (pool start --job-memory)"),
            std::string::npos)
      << refused.err;
  Run({"pool", "stop", "small"});
}

TEST_F(PoolJobs, RefuseInOneLineWhatAPoolCannotDo) {
  ExpectRefusal({"cc", "p:kron", "--nodes", "4"}, 2, "--nodes");
  ExpectRefusal({"cc", "p:kron", "--transport", "mpi"}, 2, "shm or tcp");
  ExpectRefusal({"cc", "p:kron", "--directed"}, 2, "--directed");
  ExpectRefusal({"cc", "p:absent"}, 3, "absent");
  ExpectRefusal({"triangles", "p:absent"}, 3, "absent");
  ExpectRefusal({"triangles", "p:links"}, 3, "is directed");
  ExpectRefusal({"job", "cancel", "p", "1"}, 3, "has no job of process 1");
  ExpectRefusal({"job", "cancel", "p", "x"}, 2, "is no number");
  ExpectRefusal({"job", "list", "q"}, 3, "there is no pool 'q'");
  ExpectRefusal({"pool", "metrics", "q"}, 3, "there is no pool 'q'");
  ExpectRefusal({"run", "p:kron", "cc", "triangles"}, 2, "two commands");
  ExpectRefusal({"cc", "nopool:kron"}, 3, "nopool");
  ExpectRefusal({"run", "p:links", "cc", "kcore"}, 2, "need a command of their own");
  ExpectRefusal({"bfs", "p:kron", "--source", "99999999"}, 3, "99999999");
}

}  // namespace
}  // namespace slimgraph
