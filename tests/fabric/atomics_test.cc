// Atomic operations of all nodes on the same words: none is lost, and none is torn.
#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

class FabricAtomics : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricAtomics, ::testing::ValuesIn(AllSettings()), NameOfSetting);

TEST_P(FabricAtomics, FetchAddsOfAllNodesAddUp) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::uint64_t kBatches = 100;
    constexpr std::uint64_t kPerBatch = 20;
    const SharedRegion region = *fabric.Share(64);
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::uint64_t> old(kPerBatch);
    std::uint64_t last = 0;
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
      for (std::uint64_t& value : old) endpoint.FetchAdd(0, region.id, 8, 3, &value);
      ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
      for (const std::uint64_t value : old) {
        EXPECT_EQ(value % 3, 0u);
        EXPECT_TRUE(value > last || value == 0) << value << " after " << last;
        last = value;
      }
    }
    ASSERT_TRUE(job.Exchange(""));
    std::uint64_t total = 0;
    endpoint.FetchAdd(0, region.id, 8, 0, &total);
    ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_EQ(total, 3 * kBatches * kPerBatch * job.nodes());
  });
}

TEST_P(FabricAtomics, ALockByCompareSwapKeepsAllOthersOut) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr int kTurns = 30;
    const SharedRegion region = *fabric.Share(64);
    Endpoint& endpoint = fabric.endpoint(0);
    const auto bytes = [](auto& value) { return std::as_writable_bytes(std::span(&value, 1)); };
    for (int turn = 0; turn < kTurns; ++turn) {
      std::uint64_t holder = 1;
      while (holder != 0) {
        endpoint.CompareSwap(0, region.id, 0, 0, job.self() + 1, &holder);
        ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
      }
      std::uint64_t count = 0;
      endpoint.Read(0, region.id, 16, bytes(count));
      ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
      ++count;
      std::uint64_t unlocked = 0;
      endpoint.Write(0, region.id, 16, bytes(count));
      endpoint.CompareSwap(0, region.id, 0, job.self() + 1, 0, &unlocked);
      ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
      EXPECT_EQ(unlocked, job.self() + 1);
    }
    ASSERT_TRUE(job.Exchange(""));
    std::uint64_t count = 0;
    endpoint.Read(0, region.id, 16, bytes(count));
    ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_EQ(count, std::uint64_t{kTurns} * job.nodes());
  });
}

TEST_P(FabricAtomics, TheOldValueIsOptional) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(64);
    Endpoint& endpoint = fabric.endpoint(0);
    const NodeId node = RightOf(job);
    std::uint64_t old = 0;
    endpoint.FetchAdd(node, region.id, 0, 5, nullptr);
    endpoint.CompareSwap(node, region.id, 0, 5, 6, nullptr);
    endpoint.FetchAdd(node, region.id, 0, 0, &old);
    ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_EQ(old, 6u);
  });
}

}  // namespace

}  // namespace slimgraph
