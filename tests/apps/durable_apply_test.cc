// The commits of `slimgraph txn run --durable` become part of the store: by `store apply
// --durable`, also when it is killed at random or the disk is full, and by the next run if the
// store has been updated meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/apps/store_support.h"

namespace slimgraph {
namespace {

namespace fs = std::filesystem;

class DurableOnStores : public Stores {
 protected:
  void CreateFrom(const std::vector<std::string>& gen, const char* edge_bytes) {
    fs::remove_all(store_);
    fs::remove_all(logs_);
    std::vector<std::string> words = {"gen", "kron", "-s", "8", "-o", graph_};
    words.insert(words.end(), gen.begin(), gen.end());
    ASSERT_EQ(RunSlimgraph(words).code, 0);
    const CommandEnd made = RunSlimgraph({"store", "create", graph_, "--vertex-bytes", "8",
                                          "--edge-bytes", edge_bytes, "-o", store_});
    ASSERT_EQ(made.code, 0) << made.err;
  }
  // `more`: options and values that replace or extend the usual ones.
  std::vector<std::string> Words(const std::string& workload,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"txn",       "run",     "--workload", workload, "--protocol",
                                      "occ",       "--store", store_,       "--rows", "20000",
                                      "--seconds", "20",      "--nodes",    "2",      "--durable",
                                      logs_,       "--json"};
    for (std::size_t i = 0; i < more.size(); i += 2) {
      const auto usual = std::find(words.begin(), words.end(), more[i]);
      if (usual == words.end()) {
        words.insert(words.end(), {more[i], more[i + 1]});
      } else {
        usual[1] = more[i + 1];
      }
    }
    return words;
  }
  // Returns the graph at the end of the run.
  Lists Run(const std::string& workload, const std::vector<std::string>& more) const {
    std::vector<std::string> words = more;
    words.insert(words.end(), {"--export", scratch_.File("run.slim")});
    const CommandEnd end = RunSlimgraph(Words(workload, words));
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
    return ListsOf(scratch_.File("run.slim"));
  }
  std::vector<std::string> ApplyWords() const {
    return {"store", "apply", store_, "--durable", logs_};
  }
  CommandEnd ApplyLogs() const { return RunSlimgraph(ApplyWords()); }
  static void ExpectOneLine(const CommandEnd& end, int code, const std::string& says) {
    EXPECT_EQ(end.code, code) << end.out << end.err;
    EXPECT_NE(end.err.find(says), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
  CommandEnd Limited(const std::vector<std::string>& words, const char* kibibytes) const {
    std::string line = fmt::format("ulimit -f {}; exec {}", kibibytes, CommandPath());
    for (const std::string& word : words) line += " " + word;
    return RunningCommand({"bash", "-c", line}).Wait();
  }

  const std::string logs_ = scratch_.File("logs");
};

TEST_F(DurableOnStores, CommitsBecomePartOfTheStoreOnce) {
  struct Kind {
    std::vector<std::string> gen;
    const char* workload;
    const char* fold;  // --fold of the last run
  };
  const Kind kinds[] = {{{}, "linkbench", "0.01"},
                        {{"--directed"}, "snb-updates", "0"},
                        {{"--weights", "1..9"}, "linkbench", "0"}};
  for (const auto& [gen, workload, fold] : kinds) {
    SCOPED_TRACE(fmt::format("{} {}", workload, gen.empty() ? "" : gen[0]));
    CreateFrom(gen, "3");
    Run(workload, {"--transactions", "150", "--fold", "0.01"});
    const Lists after =
        Run(workload, {"--transactions", "150", "--seed", "2", "--fold", "0.01", "--nodes", "3"});
    EXPECT_NE(Exported(), after);
    const CommandEnd end = ApplyLogs();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_NE(end.out.find("the commits of " + logs_ + " have changed"), std::string::npos)
        << end.out;
    EXPECT_EQ(Exported(), after);
    const std::string log = ReadText(store_ + "/log.0");
    const CommandEnd again = ApplyLogs();
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_NE(again.out.find("nothing to do"), std::string::npos) << again.out;
    EXPECT_EQ(ReadText(store_ + "/log.0"), log);
    // The next run begins with that store and adds its own commits.
    const Lists more = Run(workload, {"--transactions", "50", "--seed", "3", "--fold", fold});
    EXPECT_EQ(ApplyLogs().code, 0);
    EXPECT_EQ(Exported(), more);
  }
}

// Applies update lines to a model. Lines may name vertices that transactions have deleted. The last
// write wins: an edge of such a vertex appears if a later line adds the vertex again.
void TakeLines(const std::string& text, Lists& lists) {
  std::istringstream stream(text);
  std::string sign;
  std::uint64_t u = 0;
  std::uint64_t v = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> waiting;  // edges that lack a vertex
  const auto add_edges = [&] {
    std::erase_if(waiting, [&](const auto& edge) {
      const auto& [from, to] = edge;
      if (!lists.contains(from) || !lists.contains(to)) return false;
      lists[from][to] = lists[to][from] = 0;
      return true;
    });
  };
  while (stream >> sign >> u) {
    if (sign == "+v") {
      lists[u];
      add_edges();
    } else if (sign == "-v") {
      for (auto& [name, list] : lists) list.erase(u);
      lists.erase(u);
      std::erase_if(waiting, [&](const auto& edge) { return edge.first == u || edge.second == u; });
    } else if (stream >> v; sign == "+") {
      waiting.insert({std::min(u, v), std::max(u, v)});
      add_edges();
    } else {
      waiting.erase({std::min(u, v), std::max(u, v)});
      if (lists.contains(u) && lists.contains(v)) {
        lists[u].erase(v);
        lists[v].erase(u);
      }
    }
  }
}

// Random update lines on vertices of the store: first additions of vertices, then edges, then
// deletions of vertices. Vertices that transactions have deleted get edges before they are added.
std::string LinesFor(const Lists& lists, const Lists& later, std::mt19937_64& random) {
  std::vector<std::uint64_t> names;
  for (const auto& [name, list] : lists) names.push_back(name);
  std::string text;
  const auto any = [&] { return names[random() % names.size()]; };
  for (int i = 0; i < 8; ++i) text += fmt::format("+v {}\n", any());
  for (int i = 0; i < 60; ++i) {
    text += fmt::format("{} {} {}\n", random() % 2 == 0 ? "+" : "-", any(), any());
  }
  for (const std::uint64_t name : names) {
    if (later.contains(name)) continue;
    text += fmt::format("+ {} {}\n", any(), name);
    if (random() % 2 == 0) text += fmt::format("+v {}\n", name);
  }
  for (int i = 0; i < 5; ++i) text += fmt::format("+v {}\n-v {}\n", 100'000 + i, names[i * 7]);
  return text;
}

// Alternates runs and files of updates: the later change wins, and no run is refused.
TEST_F(DurableOnStores, UpdatesBetweenRunsAreLaterThanEarlierCommits) {
  std::mt19937_64 random(StoreSeed());
  CreateFrom({}, "0");
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    Lists expected =
        Run("linkbench", {"--transactions", "100", "--seed", std::to_string(random() % 1000),
                          "--fold", random() % 2 == 0 ? "0" : "0.01"});
    const Lists in_store = Exported();
    const std::string text = LinesFor(in_store, expected, random);
    WriteText(scratch_.File("updates"), text);
    const CommandEnd applied = Apply(scratch_.File("updates"));
    ASSERT_EQ(applied.code, 0) << applied.err;
    TakeLines(text, expected);
    const CommandEnd end = RunSlimgraph(Words("tao", {"--seconds", "0.01"}));
    ASSERT_EQ(end.code, 0) << end.err;
    EXPECT_NE(Field(end, "applied_changes"), "0");
    EXPECT_EQ(Field(end, "recovered_records"), "0");
    EXPECT_EQ(Exported(), expected);
    EXPECT_EQ(ApplyLogs().code, 0);
  }
}

// `store apply` is killed repeatedly until it completes once. Each time the store has either none
// or all of the commits.
TEST_F(DurableOnStores, AreWholeHoweverOftenTheirApplicationIsKilled) {
  std::mt19937_64 random(StoreSeed());
  CreateFrom({}, "3");
  int killed = 0;
  for (int round = 0; round < 3; ++round) {
    const Lists before = Exported();
    const Lists after = Run("linkbench", {"--transactions", "60", "--seed",
                                          std::to_string(random() % 1000), "--fold", "0.01"});
    std::vector<std::string> words = ApplyWords();
    words.insert(words.begin(), CommandPath());
    for (std::uint64_t delay_us = random() % 5000;; delay_us += random() % (delay_us + 1000)) {
      RunningCommand running(words);
      std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
      ::kill(running.pid(), SIGKILL);
      const CommandEnd end = running.Wait();
      const Lists now = Exported();
      ASSERT_TRUE(now == before || now == after) << "killed after " << delay_us << " us";
      if (end.code != 128 + SIGKILL) {
        ASSERT_EQ(end.code, 0) << end.err;
        break;
      }
      ++killed;
    }
    EXPECT_EQ(Exported(), after);
    EXPECT_NE(ApplyLogs().out.find("nothing to do"), std::string::npos);
  }
  std::cout << killed << " were killed" << std::endl;
}

TEST_F(DurableOnStores, AFullDiskLeavesTheStoreAsItWas) {
  CreateFrom({}, "64");
  const Lists before = Exported();
  const Lists after = Run("linkbench", {"--transactions", "1500", "--fold", "0.01"});
  // The next run copies the files that hold folded changes, and they exceed the file size limit.
  const std::string graph = ReadText(store_ + "/log.0");
  const CommandEnd run = Limited(
      Words("linkbench", {"--transactions", "10", "--fold", "0.01", "--transport", "tcp"}), "60");
  ExpectOneLine(run, 4, "/aside.");
  EXPECT_NE(run.err.find("cannot write at byte"), std::string::npos) << run.err;
  EXPECT_EQ(ReadText(store_ + "/log.0"), graph);
  ExpectOneLine(Limited(ApplyWords(), "60"), 4, "log.0: cannot write at byte");
  EXPECT_EQ(Exported(), before);
  EXPECT_EQ(ApplyLogs().code, 0);
  EXPECT_EQ(Exported(), after);
}

TEST_F(DurableOnStores, AreRefusedByOtherStoresAndOtherData) {
  CreateFrom({}, "0");
  Run("linkbench", {"--transactions", "20"});
  const std::string other = scratch_.File("other");
  ASSERT_EQ(RunSlimgraph({"store", "create", graph_, "--edge-bytes", "8", "-o", other}).code, 0);
  const CommandEnd apply = RunSlimgraph({"store", "apply", other, "--durable", logs_});
  ExpectOneLine(
      apply, 3,
      fmt::format("{}: its commits are on --workload linkbench --store {} (store ", logs_, store_));
  EXPECT_NE(apply.err.find(other + " is another (store "), std::string::npos) << apply.err;
  const std::string own = store_;
  std::vector<std::string> words = Words("linkbench", {"--transactions", "1"});
  std::replace(words.begin(), words.end(), own, other);
  const CommandEnd run = RunSlimgraph(words);
  ExpectOneLine(run, 3, logs_ + "/commits.");
  EXPECT_NE(run.err.find("its commits are on --workload linkbench --store " + store_),
            std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find("and this run is on --workload linkbench --store " + other),
            std::string::npos)
      << run.err;
  ExpectOneLine(RunSlimgraph({"store", "apply", store_, "--durable", scratch_.File("none")}), 3,
                "No such file");
  ExpectOneLine(RunSlimgraph({"store", "apply", store_, "--durable", logs_, "--batch", "5"}), 2,
                "--batch needs --from UPDATES");
  ExpectOneLine(RunSlimgraph({"store", "apply", store_, "--come-last"}), 2,
                "--come-last needs --durable DIR");
}

}  // namespace
}  // namespace slimgraph
