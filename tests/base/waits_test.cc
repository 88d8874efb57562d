#include "slimgraph/base/waits.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>

namespace slimgraph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr std::uint64_t kSecondNs = 1'000'000'000;

TEST(Waits, AreLoggedAfterASecondAndEachTimeTheyHaveDoubled) {
  Waits waits;
  EXPECT_EQ(waits.next_ns(), Waits::kNever);
  waits.Enter(2, "a list of node 1", 10 * kSecondNs);
  EXPECT_EQ(waits.next_ns(), 11 * kSecondNs);
  EXPECT_THAT(waits.Report(11 * kSecondNs - 1), IsEmpty());
  EXPECT_THAT(waits.Report(11 * kSecondNs), ElementsAre("node 2 waits 1.0 s for a list of node 1"));
  EXPECT_EQ(waits.next_ns(), 12 * kSecondNs);
  EXPECT_THAT(waits.Report(12 * kSecondNs - 1), IsEmpty());
  EXPECT_THAT(waits.Report(13 * kSecondNs), ElementsAre("node 2 waits 3.0 s for a list of node 1"));
  EXPECT_EQ(waits.next_ns(), 16 * kSecondNs);
}

TEST(Waits, TheEndIsLoggedIfTheWaitWas) {
  Waits waits;
  const auto brief = waits.Enter(0, "little", 0);
  const auto lasting = waits.Enter(0, "much", 0);
  EXPECT_EQ(waits.Leave(brief, kSecondNs - 1), std::nullopt);
  EXPECT_THAT(waits.Report(kSecondNs), ElementsAre("node 0 waits 1.0 s for much"));
  EXPECT_EQ(waits.Leave(lasting, 5 * kSecondNs / 2),
            "node 0 has waited 2.5 s for much: the wait is over");
  EXPECT_EQ(waits.next_ns(), Waits::kNever);
}

TEST(Waits, AreLoggedWithTheLatestDescription) {
  Waits waits;
  const auto wait = waits.Enter(3, "nodes 1 and 2", 0);
  waits.Restate(wait, "node 2");
  EXPECT_THAT(waits.Report(kSecondNs), ElementsAre("node 3 waits 1.0 s for node 2"));
}

TEST(Waits, NodesAreNamedOnceAndInOrder) {
  EXPECT_EQ(NodesInWords({4}), "node 4");
  EXPECT_EQ(NodesInWords({3, 1, 3}), "nodes 1 and 3");
  EXPECT_EQ(NodesInWords({2, 1, 7}), "nodes 1, 2 and 7");
}

// The lines that the log of this process has reported. Never destroyed.
struct Told {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines;
};

TEST(WaitLog, LogsWaitsIfTheVariableIsSet) {
  static Told told;
  const auto tell = [](const std::string& line) {
    const std::lock_guard lock(told.mutex);
    told.lines.push_back(line);
    told.changed.notify_all();
  };
  const auto never = []() -> std::string {
    ADD_FAILURE() << "nothing is to be told";
    return "";
  };
  if (!LogsWaits()) {  // the first run of this test in this process
    ::unsetenv("SLIMGRAPH_LOG");
    EXPECT_TRUE(StartWaitLog(tell));
    const Waiting waiting(0, never);
    WaitAndLog(
        0, [](auto) { return true; }, never);
    ::setenv("SLIMGRAPH_LOG", "verbose", 1);
    EXPECT_EQ(StartWaitLog(tell).error().message,
              "SLIMGRAPH_LOG=verbose is unknown: set it to debug, or leave it out");
    EXPECT_FALSE(LogsWaits());
  }
  ::setenv("SLIMGRAPH_LOG", "debug", 1);
  ASSERT_TRUE(StartWaitLog(tell));
  ::unsetenv("SLIMGRAPH_LOG");
  told.lines.clear();
  // The wait ends when it has been reported.
  const auto wait = [](auto limit) {
    std::unique_lock lock(told.mutex);
    return told.changed.wait_for(lock, limit, [] { return !told.lines.empty(); });
  };
  WaitAndLog(5, wait, [] { return "a line"; });
  EXPECT_THAT(told.lines,
              ElementsAre(MatchesRegex("node 5 waits [0-9]+\\.[0-9] s for a line"),
                          MatchesRegex("node 5 has waited .* s for a line: the wait is over")));
}

}  // namespace
}  // namespace slimgraph
