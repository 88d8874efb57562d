// `slimgraph txn` as a user sees it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/command.h"
#include "tests/support/list_append_checker.h"

namespace slimgraph {
namespace {

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST(TxnRun, WritesAHistoryThatIsInOrder) {
  const ScratchDirectory scratch;
  const std::string path = scratch.File("history.jsonl");
  const CommandEnd end =
      RunSlimgraph({"txn", "run", "--workload", "list-append", "--protocol", "occ", "--nodes", "2",
                    "--seconds", "5", "--transactions", "100", "--history", path, "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("\"throughput_per_s\":"), std::string::npos);
  const auto lines = LinesOf(ReadText(path));
  EXPECT_EQ(lines.size(), 2u * 2 * 8 * 100);
  EXPECT_EQ(lines[0].find("{\"index\":0,\"type\":\"invoke\",\"process\":"), 0u) << lines[0];
  EXPECT_EQ(test::CheckListAppend(lines, test::Level::kStrictSerializable), "");
}

TEST(TxnRun, SaysAtWhichLevelItRuns) {
  const ScratchDirectory scratch;
  const std::string path = scratch.File("history.jsonl");
  const std::vector<std::string> words = {"txn",
                                          "run",
                                          "--workload",
                                          "list-append",
                                          "--protocol",
                                          "boundedwait",
                                          "--lock-timeout",
                                          "2ms",
                                          "--isolation",
                                          "read-committed",
                                          "--nodes",
                                          "2",
                                          "--seconds",
                                          "5",
                                          "--transactions",
                                          "50",
                                          "--history",
                                          path};
  const CommandEnd end = RunSlimgraph(words);
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("list-append with boundedwait at read-committed, stages 11111:"),
            std::string::npos)
      << end.out;
  EXPECT_EQ(test::CheckListAppend(LinesOf(ReadText(path)), test::Level::kReadCommitted), "");
  std::vector<std::string> again = words;
  again.emplace_back("--json");
  const CommandEnd json = RunSlimgraph(again);
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_NE(json.out.find("\"isolation\":\"read-committed\""), std::string::npos) << json.out;
}

TEST(TxnRun, SaysWhatTransactionsThatOnlyReadHaveDone) {
  for (const char* const timestamps : {"dst", "global", "vector"}) {
    const CommandEnd end = RunSlimgraph({"txn", "run", "--workload", "smallbank", "--protocol",
                                         "nowait", "--timestamps", timestamps, "--version-memory",
                                         "64K", "--nodes", "2", "--transactions", "200"});
    ASSERT_EQ(end.code, 0) << end.err;
    const std::string what =
        std::string("smallbank with nowait, ") + timestamps + " timestamps, stages 11111";
    EXPECT_EQ(end.out.find(what), 0u) << end.out;
    const CommandEnd json =
        RunSlimgraph({"txn", "run", "--workload", "ycsb-b", "--timestamps", timestamps, "--nodes",
                      "2", "--compute", "1", "--transactions", "200", "--json"});
    ASSERT_EQ(json.code, 0) << json.err;
    EXPECT_NE(json.out.find("\"read_only\":{\"committed\":"), std::string::npos) << json.out;
  }
}

TEST(TxnRun, EndsWithOneLineWhenAJournalOfTheHistoryCannotBeWritten) {
  const ScratchDirectory scratch;
  const std::string path = scratch.File("history.jsonl");
  std::filesystem::create_symlink("/dev/full", path + ".node1");
  const CommandEnd end = RunSlimgraph({"txn", "run", "--workload", "list-append", "--protocol",
                                       "occ", "--nodes", "2", "--seconds", "5", "--transactions",
                                       "20", "--history", path, "--replicas", "2"});
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find(path + ".node1: cannot write: No space left on device"), std::string::npos)
      << end.err;
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TxnRun, RefusesWhatItCannotDoWithOneLine) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--protocol", "occ"},
      {"--workload", "ycsb", "--protocol", "2pl"},
      {"--workload", "tpch", "--protocol", "occ"},
      {"--workload", "ycsb", "--protocol", "nowait", "--stages", "1111"},
      {"--workload", "ycsb", "--protocol", "nowait", "--stages", "11112"},
      {"--workload", "ycsb", "--protocol", "nowait", "--stages", "farm"},
      {"--workload", "ycsb", "--protocol", "occ", "--stages", "tcp", "--transport", "shm"},
      {"--workload", "ycsb", "--protocol", "occ", "--coroutines", "257"},
      {"--workload", "ycsb", "--protocol", "occ", "--coroutines", "0"},
      {"--workload", "ycsb", "--protocol", "occ", "--without", "luck"},
      {"--workload", "ycsb", "--protocol", "occ", "--isolation", "read-committed"},
      {"--workload", "ycsb", "--isolation", "repeatable-read"},
      {"--workload", "ycsb", "--protocol", "nowait", "--isolation", "snapshot"},
      {"--workload", "graph-append", "--protocol", "nowait", "--isolation", "read-committed"},
      {"--workload", "ycsb", "--protocol", "nowait", "--lock-timeout", "10ms"},
      {"--workload", "ycsb", "--protocol", "boundedwait", "--lock-timeout", "0"},
      {"--workload", "ycsb", "--protocol", "boundedwait", "--lock-timeout", "soon"},
      {"--workload", "ycsb", "--protocol", "to", "--timestamps", "dst"},
      {"--workload", "ycsb", "--timestamps", "clock"},
      {"--workload", "ycsb", "--protocol", "nowait", "--timestamps", "dst", "--isolation",
       "read-committed"},
      {"--workload", "ycsb", "--version-memory", "1M"},
      {"--workload", "ycsb", "--protocol", "occ", "--commit-log", "remote"},
      {"--workload", "ycsb", "--protocol", "occ", "--flush", "read"},
      {"--workload", "ycsb", "--protocol", "occ", "--align-commits", "yes"},
      {"--workload", "ycsb", "--protocol", "occ", "--commit-log", "remote", "--durable", "logs",
       "--flush", "soon"},
      {"--workload", "ycsb", "--protocol", "occ", "--commit-log", "remote", "--durable", "logs",
       "--replicas", "2"},
      {"--workload", "ycsb", "--timestamps", "dst", "--version-memory", "1K"},
      {"--workload", "ycsb", "--protocol", "occ", "--history", "h"},
      {"--workload", "ycsb", "--theta", "0.5"},
      {"--workload", "smallbank", "--lookup", "leaf"},
      {"--workload", "ycsb-a", "--lookup", "guess"},
      {"--workload", "ycsb-a", "--lookup", "tree"},
      {"--workload", "ycsb-a", "--lookup", "tree", "--stages", "00100"},
      {"--workload", "ycsb-a", "--theta", "1"},
      {"--workload", "ycsb-a", "--writes", "1.5"},
      {"--workload", "ycsb-a", "--record-bytes", "7"},
      {"--workload", "ycsb-a", "--operations", "0"},
      {"--workload", "ycsb-e", "--scan-length", "1001"},
      {"--workload", "ycsb-g"},
      {"--workload", "ycsb", "--protocol", "occ", "--hot", "-1"},
      {"--workload", "ycsb", "--protocol", "occ", "--hot", "nan"},
      {"--workload", "ycsb", "--protocol", "occ", "--fold", "-1"},
      {"--workload", "ycsb", "--protocol", "occ", "--seconds", "0"},
      {"--workload", "ycsb", "--protocol", "occ", "--replicas", "0"},
      {"--workload", "ycsb", "--protocol", "occ", "--replicas", "3"},
      {"--workload", "ycsb", "--protocol", "occ", "--replicas", "2", "--log-memory", "1K"},
      {"--workload", "ycsb", "--protocol", "occ", "--replicas", "2", "--transport", "mpi"},
      {"--workload", "ycsb", "--protocol", "occ", "--die", "1"},
      {"--workload", "ycsb", "--protocol", "occ", "--die", "1@lunch"},
      {"--workload", "ycsb", "--protocol", "occ", "--die", "2@lock"},
      {"--workload", "ycsb", "--protocol", "occ", "--die", "1@renew"},
      {"--workload", "ycsb", "--protocol", "occ", "--die", "1@repair:6"},
      {"--workload", "ycsb", "--protocol", "occ", "--die", "1@lock,2@repair:1"}};
  for (std::vector<std::string> words : wrong) {
    words.insert(words.begin(), {"txn", "run", "--nodes", "2"});
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 2) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    EXPECT_EQ(end.out, "");
  }
}

TEST(TxnRun, TakesAProtocolAndSaysSoIfNoneIsGiven) {
  for (const char* const nodes : {"1", "2"}) {
    const CommandEnd end = RunSlimgraph(
        {"txn", "run", "--workload", "smallbank", "--transactions", "20", "--nodes", nodes});
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.err, "slimgraph: occ is taken, because --protocol is not given\n");
    EXPECT_EQ(end.out.find("smallbank with occ, "), 0U) << end.out;
  }
}

TEST(TxnRun, ScansOrderedTables) {
  for (const char* const compute : {"1", "3"}) {
    const CommandEnd end =
        RunSlimgraph({"txn", "run", "--workload", "ycsb-e", "--rows", "2000", "--writes", "0.3",
                      "--transactions", "50", "--nodes", "3", "--compute", compute, "--json"});
    ASSERT_EQ(end.code, 0) << end.err;
    const auto number = [&](const std::string& name) {
      const std::string quoted = "\"" + name + "\":";
      const std::size_t at = end.out.find(quoted);
      return at == std::string::npos ? 0 : std::stoull(end.out.substr(at + quoted.size()));
    };
    EXPECT_NE(end.out.find("\"verified\":true"), std::string::npos) << end.out;
    EXPECT_EQ(number("scans") + number("inserts"), number("committed"));
    EXPECT_GT(number("scans"), number("inserts"));
    EXPECT_GT(number("inserts"), 0u);
    EXPECT_GE(number("leaf_searches"), number("committed"));
    EXPECT_GT(number("directories"), 0u);
  }
}

TEST(TxnRun, ContinuesAfterANodeHasDied) {
  const ScratchDirectory scratch;
  const std::string path = scratch.File("history.jsonl");
  const CommandEnd end = RunSlimgraph(
      {"txn", "run", "--workload", "list-append", "--protocol", "occ", "--nodes", "3", "--seconds",
       "5", "--transactions", "100", "--history", path, "--replicas", "2", "--die", "1@log:50"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.err, "");
  EXPECT_NE(end.out.find("node 1 has died; its data was rebuilt in"), std::string::npos) << end.out;
  const auto lines = LinesOf(ReadText(path));
  EXPECT_GT(lines.size(), 2u * 2 * 8 * 100);
  EXPECT_EQ(test::CheckListAppend(lines, test::Level::kStrictSerializable), "");
  EXPECT_EQ(ReadText(path + ".node0") + ReadText(path + ".node1"), "");
}

TEST(TxnRun, EndsWithOneLineWhenADeathCannotBeSurvived) {
  const std::vector<std::string> deaths[] = {
      {"--die", "1@commit:50"},
      {"--die", "1@commit:50", "--transport", "mpi"},
      {"--die", "0@lock:50", "--replicas", "2"},
      {"--die", "0@log:50", "--replicas", "2"},
      {"--die", "0@commit:50", "--replicas", "2"},
      {"--die", "1@log:50,0@repair:2", "--replicas", "3"},
      {"--die", "1@log:50,2@repair:3", "--replicas", "2"},
      {"--die", "0@commit:50", "--replicas", "2", "--protocol", "calvin"}};
  // The time of such a job without a death, at the machine's present load. It is much less than
  // half a second on an idle machine.
  const auto usual_seconds = [] {
    const CommandEnd end =
        RunSlimgraph({"txn", "run", "--workload", "smallbank", "--nodes", "3", "--protocol", "occ",
                      "--seconds", "60", "--transactions", "50"});
    EXPECT_EQ(end.code, 0) << end.err;
    return end.seconds;
  };
  double before = usual_seconds();
  for (std::vector<std::string> words : deaths) {
    if (std::find(words.begin(), words.end(), "--protocol") == words.end()) {
      words.insert(words.end(), {"--protocol", "occ"});
    }
    words.insert(words.begin(),
                 {"txn", "run", "--workload", "smallbank", "--nodes", "3", "--seconds", "60"});
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 4) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    const double after = usual_seconds();
    EXPECT_LT(end.seconds, std::max(4.0, 12 * std::max(before, after)));
    before = after;
  }
}

TEST(TxnSweep, PrintsARowForEachPoint) {
  const CommandEnd end =
      RunSlimgraph({"txn", "sweep", "--over", "stages", "--workload", "smallbank", "--protocol",
                    "nowait", "--rows", "1000", "--nodes", "2", "--seconds", "0.02"});
  ASSERT_EQ(end.code, 0) << end.err;
  const auto lines = LinesOf(end.out);
  EXPECT_EQ(lines.size(), 16u);
  for (const std::string& line : lines) EXPECT_EQ(line.find("{\"schema\":"), 0u) << line;
}

// Under CALVIN, a buffer is reused when all nodes have said that they no longer need it. That must
// work for batches that came by messages and for batches that came one-sided.
TEST(TxnSweep, AlternatesBetweenMessagesAndOneSidedStages) {
  for (const char* const codes : {"0000,0100", "1111,0000,1111", "0100,1000,0100"}) {
    const CommandEnd end =
        RunSlimgraph({"txn", "sweep", "--over", "stages", "--values", codes, "--workload",
                      "smallbank", "--protocol", "calvin", "--rows", "1000", "--nodes", "3",
                      "--compute", "2", "--seconds", "0.02"});
    EXPECT_EQ(end.code, 0) << codes << ": " << end.err;
  }
}

// Jobs of other sizes than the first follow on the same tables.
TEST(TxnSweep, GrowsAndShrinksCoroutinesUnderAllProtocols) {
  for (const char* const protocol :
       {"nowait", "waitdie", "boundedwait", "occ", "to", "mvcc", "sundial", "calvin"}) {
    for (const char* const stages : {"rpc", "one-sided"}) {
      const CommandEnd end =
          RunSlimgraph({"txn", "sweep", "--over", "coroutines", "--values", "1,12,3", "--workload",
                        "smallbank", "--protocol", protocol, "--stages", stages, "--rows", "1000",
                        "--nodes", "2", "--seconds", "0.02"});
      EXPECT_EQ(end.code, 0) << protocol << " " << stages << ": " << end.err;
      EXPECT_EQ(LinesOf(end.out).size(), 3u);
    }
  }
}

TEST(TxnChoose, NamesACodeOfTheProtocol) {
  const CommandEnd end =
      RunSlimgraph({"txn", "choose", "--workload", "smallbank", "--protocol", "sundial", "--rows",
                    "1000", "--nodes", "2", "--seconds", "0.1", "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const std::size_t at = end.out.find("\"choice\":\"");
  ASSERT_NE(at, std::string::npos) << end.out;
  EXPECT_EQ(end.out.substr(at + 10, 6).find_first_not_of("01"), std::string::npos);
}

TEST(TxnChoose, NeedsAChoice) {
  using Wrong = std::pair<std::vector<std::string>, const char*>;
  for (const auto& [rest, why] : {Wrong{{"ycsb-a", "--lookup", "tree"}, "goes by messages alone"},
                                  Wrong{{"ycsb-a", "--stages", "rpc"}, "takes no option --stages"},
                                  Wrong{{"list-append"}, "is for checkers"}}) {
    std::vector<std::string> words = {"txn", "choose", "--workload"};
    words.insert(words.end(), rest.begin(), rest.end());
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 2) << end.err;
    EXPECT_NE(end.err.find(why), std::string::npos) << end.err;
    EXPECT_EQ(end.out, "");
  }
}

// On a slow network, the one-sided word that ends a transaction can overtake the message that ends
// the transaction before. That happens in a third of the runs, so the test makes several.
TEST(TxnChoose, KeepsTheOrderOfEndsInBothFormsUnderCalvin) {
  for (int i = 0; i < 8; ++i) {
    const CommandEnd end = RunSlimgraph({"txn", "choose", "--workload", "ycsb", "--protocol",
                                         "calvin", "--rows", "10000", "--nodes", "2", "--seconds",
                                         "0.1", "--coroutines", "1", "--network", "fdr"});
    ASSERT_EQ(end.code, 0) << end.err;
  }
}

// Under CALVIN, all threads use the same form, so epochs alternate between the forms.
TEST(TxnChoose, MeasuresBothFormsUnderCalvin) {
  const CommandEnd end =
      RunSlimgraph({"txn", "choose", "--workload", "smallbank", "--protocol", "calvin", "--rows",
                    "1000", "--nodes", "3", "--compute", "2", "--seconds", "0.2", "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  for (const char* const stage : {"read", "lock", "commit"}) {
    const std::size_t at = end.out.find("\"" + std::string(stage) + "\":{\"two_sided\":");
    ASSERT_NE(at, std::string::npos) << end.out;
    for (const char* const form : {"\"two_sided\":", "\"one_sided\":"}) {
      const std::size_t number = end.out.find(form, at) + std::string(form).size();
      EXPECT_GT(std::stod(end.out.substr(number)), 0) << stage << " " << form;
    }
  }
}

}  // namespace
}  // namespace slimgraph
