// `slimgraph txn replay` as a user sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/command.h"

namespace slimgraph {
namespace {

using ::testing::HasSubstr;

// A small replay; `more` may name other cores and another time.
std::vector<std::string> Replaying(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"txn",          "replay", "--rows",   "4",
                                    "--population", "0.01",   "--record", "500"};
  for (const char* const option : {"--cores 16", "--seconds 0.005"}) {
    const std::string text = option;
    const std::string name = text.substr(0, text.find(' '));
    if (std::find(more.begin(), more.end(), name) != more.end()) continue;
    words.insert(words.end(), {name, text.substr(name.size() + 1)});
  }
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

double NumberAt(const std::string& json, const std::string& name) {
  const std::size_t at = json.find("\"" + name + "\":");
  EXPECT_NE(at, std::string::npos) << name << " in " << json;
  return at == std::string::npos ? -1 : std::stod(json.substr(at + name.size() + 3));
}

TEST(TxnReplay, ReplaysTheLocksOfTpcc) {
  const CommandEnd end = RunSlimgraph(Replaying({}));
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("4 warehouses on 16 simulated cores: "));
  EXPECT_THAT(end.out, HasSubstr("verified: the order of accesses is serial"));
}

TEST(TxnReplay, ReportsEachProtocolAndLevel) {
  double requests[2] = {};
  for (const char* const protocol : {"nowait", "waitdie", "boundedwait", "to"}) {
    for (const char* const level : {"serializable", "read-committed"}) {
      const CommandEnd end = RunSlimgraph(
          Replaying({"--protocol", protocol, "--isolation", level, "--copies", "3", "--json"}));
      ASSERT_EQ(end.code, 0) << end.err;
      EXPECT_THAT(end.out, HasSubstr("\"verified\":true"));
      EXPECT_GT(NumberAt(end.out, "throughput_per_s"), 0);
      EXPECT_GT(NumberAt(end.out, "new_order"), 0);
      requests[std::string(level) == "serializable" ? 0 : 1] = NumberAt(end.out, "requests");
    }
    EXPECT_GT(requests[0], 1.5 * requests[1]) << protocol << ": reads take locks";
  }
}

TEST(TxnReplay, IsTheSameAgain) {
  const auto throughput = [](const char* seed) {
    const CommandEnd end = RunSlimgraph(Replaying({"--seed", seed, "--json"}));
    EXPECT_EQ(end.code, 0) << end.err;
    return NumberAt(end.out, "throughput_per_s");
  };
  const double first = throughput("3");
  EXPECT_EQ(first, throughput("3"));
  EXPECT_NE(first, throughput("4"));
}

TEST(TxnReplay, RefusesWhatItCannotDoWithOneLine) {
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--cores", "5"}, "--cores 5: an even number"},
      {{"--nodes", "2"}, "txn replay takes no option --nodes"},
      {{"--lock-timeout", "1ms", "--protocol", "nowait"},
       "--lock-timeout is for --protocol bounded"},
      {{"--protocol", "to", "--escalate", "5"}, "--escalate is for locks"},
      {{"--no-intentions", "--escalate", "5"}, "--escalate needs intention locks"},
      {{"--delay", "5h"}, "a time from"},
      {{"--seconds", "0"}, "--seconds 0"},
      {{"--isolation", "repeatable-read"}, "repeatable-read"},
  };
  for (const auto& [words, what] : wrong) {
    const CommandEnd end = RunSlimgraph(Replaying(words));
    EXPECT_EQ(end.code, 2) << what;
    EXPECT_THAT(end.err, HasSubstr(what));
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
  const CommandEnd few =
      RunSlimgraph({"txn", "replay", "--rows", "16", "--population", "0.01", "--record", "3"});
  EXPECT_EQ(few.code, 3) << few.err;
  EXPECT_THAT(few.err, HasSubstr("record more than 3"));
}

}  // namespace
}  // namespace slimgraph
