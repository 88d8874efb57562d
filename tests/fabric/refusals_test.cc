// Invalid operations are refused with the right reason, and later operations of the batch are not
// executed.
#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

class FabricRefusals : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricRefusals, ::testing::ValuesIn(AllSettings()), NameOfSetting);

constexpr std::uint64_t kTargetBytes = 4096;

TEST_P(FabricRefusals, EachForItsReason) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(kTargetBytes);
    Endpoint& endpoint = fabric.endpoint(0);
    const NodeId node = RightOf(job);
    std::vector<std::byte> bytes(64);
    std::vector<std::byte> many(200'000);
    std::uint64_t old = 0;
    endpoint.Read(node, region.id, kTargetBytes - 63, bytes);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOutOfRange);
    endpoint.Write(node, region.id, kTargetBytes, bytes);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOutOfRange);
    endpoint.Read(node, region.id, ~std::uint64_t{0} - 31, bytes);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOutOfRange);
    endpoint.Read(node, region.id, 0, many);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOutOfRange);
    endpoint.Write(node, region.id, 0, many);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOutOfRange);
    endpoint.FetchAdd(node, region.id, kTargetBytes - 4, 1, &old);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOutOfRange);
    endpoint.FetchAdd(node, region.id, 12, 1, &old);
    EXPECT_EQ(endpoint.Flush(), Outcome::kMisaligned);
    endpoint.CompareSwap(node, region.id, 1, 0, 1, &old);
    EXPECT_EQ(endpoint.Flush(), Outcome::kMisaligned);
    endpoint.Read(node, 77, 0, bytes);
    EXPECT_EQ(endpoint.Flush(), Outcome::kNoRegion);
    endpoint.Read(node, region.id, kTargetBytes - 64, bytes);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
    ASSERT_TRUE(job.Exchange(""));
    for (const std::byte byte : region.memory) ASSERT_EQ(byte, std::byte{0});
  });
}

TEST_P(FabricRefusals, LaterOperationsOfTheDoorbellAreNotExecuted) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(kTargetBytes);
    Endpoint& endpoint = fabric.endpoint(0);
    const NodeId node = RightOf(job);
    std::uint64_t old[3] = {};
    std::vector<std::byte> large(100'000);
    endpoint.FetchAdd(node, region.id, 0, 1, &old[0], 1);
    endpoint.FetchAdd(node, region.id, 0, 1, nullptr, 2, Signal::kNo);
    endpoint.Write(node, region.id, kTargetBytes - 8, Bytes(large).first(9), 3, Signal::kNo);
    endpoint.FetchAdd(node, region.id, 0, 100, &old[1], 4);
    endpoint.Write(node, region.id, 0, large, 5);
    endpoint.FetchAdd(node, region.id, 0, 100, &old[2], 6, Signal::kNo);
    const auto completions = Complete(endpoint);
    ASSERT_EQ(completions.size(), 5u);
    const std::pair<std::uint64_t, Outcome> wanted[] = {{1, Outcome::kOk},
                                                        {3, Outcome::kOutOfRange},
                                                        {4, Outcome::kFlushed},
                                                        {5, Outcome::kFlushed},
                                                        {6, Outcome::kFlushed}};
    for (std::size_t i = 0; i < completions.size(); ++i) {
      EXPECT_EQ(completions[i].tag, wanted[i].first);
      EXPECT_EQ(completions[i].outcome, wanted[i].second) << OutcomeName(completions[i].outcome);
    }
    endpoint.FetchAdd(node, region.id, 0, 0, &old[0]);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_EQ(old[0], 2u);
  });
}

// Node 0 revokes its region while the others read it, and overwrites it at once. No successful read
// may see the new contents.
class FabricRevocation : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricRevocation, ::testing::ValuesIn(MultiNodeSettings()),
                         NameOfSetting);

TEST_P(FabricRevocation, NoReadIsInProgressWhenItReturns) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::size_t kBytes = 1 << 20;
    constexpr std::byte kBefore{0x11};
    constexpr std::byte kAfter{0x22};
    const SharedRegion region = *fabric.Share(kBytes);
    const SharedRegion turns = *fabric.Share(8);
    std::fill(region.memory.begin(), region.memory.end(), kBefore);
    ASSERT_TRUE(job.Exchange(""));
    Endpoint& endpoint = fabric.endpoint(0);
    if (job.self() == 0) {
      EXPECT_TRUE(AwaitWord(endpoint, turns.memory.data(), 2 * (job.nodes() - 1)));
      ASSERT_TRUE(fabric.Revoke(region.id));
      std::fill(region.memory.begin(), region.memory.end(), kAfter);
    } else {
      std::vector<std::byte> got(kBytes);
      Outcome outcome = Outcome::kOk;
      const std::size_t bytes = job.self() % 2 == 0 ? kBytes : 40'000;
      while (outcome == Outcome::kOk) {
        std::fill(got.begin(), got.end(), std::byte{0});
        endpoint.Read(0, region.id, 0, AsBytes(got).first(bytes));
        outcome = endpoint.Flush();
        if (outcome != Outcome::kOk) break;
        ASSERT_EQ(std::count(got.begin(), got.end(), kBefore), bytes);
        endpoint.FetchAdd(0, turns.id, 0, 1, nullptr);
        ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
      }
      EXPECT_EQ(outcome, Outcome::kRevoked) << OutcomeName(outcome);
      endpoint.Write(0, region.id, 8, got);
      EXPECT_NE(endpoint.Flush(), Outcome::kOk);
      endpoint.Write(0, region.id, 8, Bytes(got).first(10));
      EXPECT_EQ(endpoint.Flush(), Outcome::kRevoked);
    }
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == 0) {
      EXPECT_EQ(std::count(region.memory.begin(), region.memory.end(), kAfter), kBytes);
    }
  });
}

}  // namespace

}  // namespace slimgraph
