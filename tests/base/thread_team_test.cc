#include "slimgraph/base/thread_team.h"

#include <gtest/gtest.h>

#include "slimgraph/base/work_shares.h"

namespace slimgraph::test {
namespace {

TEST(ThreadTeam, EveryTurnOfARoundRunsOnce) {
  constexpr std::uint32_t kThreads = 3;
  constexpr std::uint64_t kRounds = 20'000;
  ThreadTeam team(kThreads);
  std::vector<std::uint64_t> turns(kThreads);  // one thread changes each element in a round
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    team.Run([&](std::uint32_t t) { ++turns[t]; });
    ASSERT_EQ(turns, std::vector<std::uint64_t>(kThreads, round + 1));
  }
}

TEST(WorkShares, EveryNumberIsTakenByOneThread) {
  constexpr std::uint32_t kThreads = 3;
  ThreadTeam team(kThreads);
  WorkShares shares;
  for (const std::size_t count : {0, 1, 2, 3, 64, 65, 1000, 100'000}) {
    for (const std::size_t most : {1, 64}) {
      std::vector<int> taken(count);
      shares.Share(count, kThreads);
      team.Run([&](std::uint32_t t) {
        while (const auto piece = shares.Take(t, most)) {
          ASSERT_LE(piece->second - piece->first, most);
          for (std::size_t i = piece->first; i < piece->second; ++i) ++taken[i];
        }
      });
      EXPECT_EQ(taken, std::vector<int>(count, 1)) << count << " by " << most;
    }
  }
}

TEST(WorkShares, AThreadBeginsWithARangeOfItsOwn) {
  WorkShares shares;
  shares.Share(10, 2);
  EXPECT_EQ(shares.Take(1, 4), std::pair(std::size_t{5}, std::size_t{9}));
  EXPECT_EQ(shares.Take(0, 4), std::pair(std::size_t{0}, std::size_t{4}));
  EXPECT_EQ(shares.Take(1, 4), std::pair(std::size_t{9}, std::size_t{10}));
  EXPECT_EQ(shares.Take(1, 4), std::pair(std::size_t{4}, std::size_t{5}));
  EXPECT_EQ(shares.Take(0, 4), std::nullopt);
}

}  // namespace
}  // namespace slimgraph::test
