// `slimgraph txn run --durable`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "tests/support/command.h"

namespace slimgraph {
namespace {

class DurableRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "10", "-o", scratch_.File("g.slim")}).code, 0);
    ASSERT_EQ(RunSlimgraph({"store", "create", scratch_.File("g.slim"), "--vertex-bytes", "128",
                            "--edge-bytes", "8", "-o", store_})
                  .code,
              0);
  }
  std::vector<std::string> Words(const std::string& workload, const char* protocol,
                                 const char* nodes, const char* seconds) const {
    std::vector<std::string> words = {"txn",    "run",       "--workload", workload, "--protocol",
                                      protocol, "--json",    "--nodes",    nodes,    "--seconds",
                                      seconds,  "--durable", logs_};
    if (workload == "linkbench") words.insert(words.end(), {"--store", store_, "--rows", "200000"});
    if (workload == "smallbank") words.insert(words.end(), {"--rows", "2000"});
    return words;
  }
  // The numbers of a node's logs, in order.
  std::set<int> Logs(int of_node = 0) const {
    std::set<int> numbers;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(logs_, none)) {
      int number = 0;
      int node = 1;
      const std::string name = entry.path().filename();
      if (std::sscanf(name.c_str(), "commits.%d.%d", &number, &node) == 2 && node == of_node) {
        numbers.insert(number);
      }
    }
    return numbers;
  }
  static void Await(const std::function<bool()>& there) {
    for (int i = 0; i < 60'000; ++i) {
      if (there()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "what the test waits for has not happened within a minute";
  }
  // Waits until the logs of earlier runs are gone. From then on only commits extend a log.
  void AwaitCommits(int last_before, int node = 0) const {
    Await([&] {
      const std::set<int> logs = Logs(node);
      return !logs.empty() && *logs.begin() > last_before;
    });
    const std::set<int> logs = Logs(node);
    if (!logs.empty()) AwaitGrowth(fmt::format("{}/commits.{}.{}", logs_, *logs.begin(), node));
  }
  // Waits until a log has grown, or until a fold or checkpoint has replaced it.
  static void AwaitGrowth(const std::string& log) {
    std::error_code none;
    Await([&] { return std::filesystem::exists(log); });
    const std::uintmax_t begin = std::filesystem::file_size(log, none);
    std::uintmax_t before = begin;
    Await([&] {
      const std::uintmax_t size = std::filesystem::file_size(log, none);
      return none || size > begin + 50'000 || size < std::exchange(before, size);
    });
  }
  static void ExpectRefused(const std::vector<std::string>& words, int code,
                            const std::string& reason) {
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, code) << end.err;
    EXPECT_NE(end.err.find(reason), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }

  const ScratchDirectory scratch_;
  const std::string store_ = scratch_.File("store");
  const std::string logs_ = scratch_.File("logs");
};

std::uint64_t Number(const CommandEnd& end, const std::string& name) {
  const std::size_t at = end.out.find("\"" + name + "\":");
  EXPECT_NE(at, std::string::npos) << name << " in " << end.out << end.err;
  return at == std::string::npos ? 0 : std::stoull(end.out.substr(at + name.size() + 3));
}

// A run verifies that every edge is in both lists, that no money is lost, and that the totals match
// what was recovered plus what was committed since.
TEST_F(DurableRuns, ContinueAfterAllNodesWereKilled) {
  std::mt19937_64 random(std::random_device{}());
  for (const char* const workload : {"linkbench", "smallbank"}) {
    std::uint64_t records = 0;
    int run = 0;
    for (const auto& [protocol, nodes] : {std::pair{"occ", "2"}, {"calvin", "3"}, {"mvcc", "2"}}) {
      const std::set<int> before = Logs();
      const int last = before.empty() ? 0 : *before.rbegin();
      std::vector<std::string> words = Words(workload, protocol, nodes, "60");
      words.insert(words.begin(), CommandPath());
      RunningCommand command(words);
      AwaitCommits(last);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 100'000));
      for (const pid_t process : command.Processes()) ::kill(process, SIGKILL);
      command.Wait();
      const CommandEnd end = RunSlimgraph(Words(workload, "sundial", "2", "0.1"));
      ASSERT_EQ(end.code, 0) << end.err;
      EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
      // Folded changes are not in records, and a fold may have been the last event before the kill.
      if (workload != std::string("linkbench")) {
        EXPECT_GT(Number(end, "recovered_transactions"), 0U);
        EXPECT_GE(Number(end, "recovered_records"), records);
        records = Number(end, "recovered_records");
      }
      ++run;
      EXPECT_EQ(Number(end, "run"), 2U * run);
    }
    std::filesystem::remove_all(logs_);
  }
}

// The names of an ordered table's leaves are in the logs.
TEST_F(DurableRuns, ContinueOrderedTablesOnAnyNumberOfNodes) {
  for (const char* const workload : {"ycsb-e", "tpcc"}) {
    std::filesystem::remove_all(logs_);
    std::uint64_t run = 0;
    for (const char* const nodes : {"1", "3", "2"}) {
      std::vector<std::string> words = Words(workload, "occ", nodes, "0.3");
      const bool warehouses = workload == std::string("tpcc");
      words.insert(words.end(), {"--rows", warehouses ? "2" : "3000"});
      if (warehouses) words.insert(words.end(), {"--population", "0.01"});
      const CommandEnd end = RunSlimgraph(words);
      ASSERT_EQ(end.code, 0) << end.err;
      EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
      EXPECT_EQ(Number(end, "recovered_records") > 0, run > 0);
      EXPECT_EQ(Number(end, "run"), ++run);
    }
  }
}

// Node 0 commits, and node 1 has the commits in a file that is its memory.
TEST_F(DurableRuns, ContinueWithCommitsFromTheMemoryOfOtherNodes) {
  std::mt19937_64 random(std::random_device{}());
  for (const char* const workload : {"smallbank", "linkbench"}) {
    for (const char* const flush : {"home", "read"}) {
      std::filesystem::remove_all(logs_);
      std::vector<std::string> words = Words(workload, "occ", "2", "60");
      words.insert(words.end(), {"--compute", "1", "--commit-log", "remote", "--flush", flush,
                                 "--log-memory", "64K"});
      words.insert(words.begin(), CommandPath());
      RunningCommand command(words);
      AwaitCommits(/*last_before=*/0, /*node=*/1);  // are moved there when there are many
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 100'000));
      for (const pid_t process : command.Processes()) ::kill(process, SIGKILL);
      const bool warns =
          command.Wait().err.find("is not on persistent memory") != std::string::npos;
      EXPECT_EQ(warns, flush == std::string("read"));
      EXPECT_TRUE(std::filesystem::exists(logs_ + "/ledger.1.1"));
      if (workload == std::string("linkbench")) {
        const CommandEnd apply = RunSlimgraph({"store", "apply", store_, "--durable", logs_});
        EXPECT_EQ(apply.code, 0) << apply.err;
        EXPECT_FALSE(std::filesystem::exists(logs_ + "/ledger.1.1"));
      }
      const CommandEnd end = RunSlimgraph(Words(workload, "nowait", "3", "0.1"));
      ASSERT_EQ(end.code, 0) << end.err;
      EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
      if (workload == std::string("smallbank")) {
        EXPECT_GT(Number(end, "recovered_transactions"), 0U);
      }
      EXPECT_FALSE(std::filesystem::exists(logs_ + "/ledger.1.1"));
    }
  }
}

TEST_F(DurableRuns, DoNotContinueWithoutTheLedgersOfTheRunBefore) {
  std::vector<std::string> words = Words("smallbank", "occ", "2", "60");
  words.insert(words.end(), {"--commit-log", "remote", "--transactions", "50"});
  ASSERT_EQ(RunSlimgraph(words).code, 0);
  const std::string path = logs_ + "/ledger.1.0";
  const std::string whole = ReadText(path);
  constexpr std::size_t kInHead = 9;
  constexpr std::size_t kInPositionOfFirstRing = 4096;
  for (const std::size_t at : {kInHead, kInPositionOfFirstRing}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    WriteText(path, damaged);
    ExpectRefused(words, 3, "/ledger.1.0: it is damaged");
  }
  std::filesystem::remove(path);
  ExpectRefused(words, 3, "/ledger.1.0: it is missing");
  WriteText(path, whole);
  EXPECT_EQ(RunSlimgraph(words).code, 0);
}

TEST_F(DurableRuns, EndWithOneLineWhenTheDiskIsFullAndContinueWhenThereIsRoom) {
  std::string line = "ulimit -f 400; exec " + CommandPath();
  for (const std::string& word : Words("linkbench", "occ", "2", "60")) line += " " + word;
  line += " --transport tcp";  // over shm, the limit would apply to the nodes' memory as well
  line += " --fold 0";         // no folds, which begin new files
  RunningCommand command({"bash", "-c", line});
  const CommandEnd end = command.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("cannot write at byte"), std::string::npos) << end.err;
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  const CommandEnd after = RunSlimgraph(Words("linkbench", "occ", "2", "0.1"));
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_GT(Number(after, "recovered_transactions"), 0U);
}

TEST_F(DurableRuns, SayWhatIsWrongWithTheFolder) {
  const auto run = [&](const char* workload) { return Words(workload, "occ", "2", "0.1"); };
  WriteText(logs_, "");
  ExpectRefused(run("linkbench"), 3, "Not a directory");
  std::filesystem::remove(logs_);
  std::filesystem::create_directory(logs_);
  WriteText(logs_ + "/manifest", "");
  ExpectRefused(run("linkbench"), 2, "'manifest' in it is no log");
  std::filesystem::remove(logs_ + "/manifest");
  ASSERT_EQ(RunSlimgraph(run("linkbench")).code, 0);
  ExpectRefused(run("smallbank"), 3,
                "its commits are on --workload linkbench --store " + store_ + " (identity ");
  ExpectRefused(run("smallbank"), 3, "and this run is on --workload smallbank (identity ");
  std::vector<std::string> nowhere = run("linkbench");
  nowhere.insert(nowhere.end(), {"--durable", scratch_.File("no/where")});
  nowhere.erase(std::find(nowhere.begin(), nowhere.end(), "--durable"));
  nowhere.erase(std::find(nowhere.begin(), nowhere.end(), logs_));
  ExpectRefused(nowhere, 3, "cannot be made");
}

}  // namespace
}  // namespace slimgraph
