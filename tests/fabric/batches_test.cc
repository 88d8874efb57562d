// A doorbell may hold more operations than any queue.
#include <algorithm>
#include <array>

#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

class FabricBatches : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricBatches, ::testing::ValuesIn(MultiNodeSettings()),
                         NameOfSetting);

TEST_P(FabricBatches, LargerThanAnyQueue) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::uint64_t kOperations = 50'000;
    const SharedRegion region = *fabric.Share(kOperations * 8);
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::uint64_t> values(kOperations);
    for (std::uint64_t i = 0; i < kOperations; ++i) {
      values[i] = i * i + job.self();
      endpoint.Write(RightOf(job), region.id, i * 8, std::as_bytes(std::span(&values[i], 1)), i,
                     i + 1 == kOperations ? Signal::kYes : Signal::kNo);
    }
    const auto completions = Complete(endpoint);
    ASSERT_EQ(completions.size(), 1u);
    EXPECT_EQ(completions[0].tag, kOperations - 1);
    EXPECT_EQ(completions[0].outcome, Outcome::kOk);
    std::vector<std::uint64_t> back(kOperations);
    for (std::uint64_t i = 0; i < kOperations; ++i) {
      endpoint.Read(RightOf(job), region.id, i * 8, std::as_writable_bytes(std::span(&back[i], 1)));
    }
    EXPECT_EQ(Complete(endpoint).size(), kOperations);
    EXPECT_EQ(back, values);
  });
}

TEST_P(FabricBatches, TheLastCompletionImpliesAllBeforeIt) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(4096);
    Endpoint& endpoint = fabric.endpoint(0);
    std::uint64_t values[3] = {1, 2, 3};
    std::uint64_t back[3] = {};
    for (std::uint64_t i = 0; i < 3; ++i) {
      endpoint.Write(RightOf(job), region.id, i * 8, std::as_bytes(std::span(&values[i], 1)), 0,
                     Signal::kNo);
      endpoint.Read(RightOf(job), region.id, i * 8, std::as_writable_bytes(std::span(&back[i], 1)),
                    0, Signal::kNo);
    }
    endpoint.SignalLast(RightOf(job), 7);
    const auto completions = Complete(endpoint);
    ASSERT_EQ(completions.size(), 1u);
    EXPECT_EQ(completions[0].tag, 7u);
    EXPECT_EQ(completions[0].outcome, Outcome::kOk);
    EXPECT_TRUE(std::equal(values, values + 3, back));
  });
}

TEST_P(FabricBatches, AnAdapterIsRungOnceForADoorbell) {
  if (transport() != "verbs") GTEST_SKIP() << "there is no adapter";
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(4096);
    Endpoint& endpoint = fabric.endpoint(0);
    std::array<std::uint64_t, 64> values{};
    std::uint64_t posts = 0;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        endpoint.Read(RightOf(job), region.id, 8 * i,
                      std::as_writable_bytes(std::span(&values[i], 1)));
      }
      ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
      ASSERT_TRUE(endpoint.posts());
      EXPECT_EQ(*endpoint.posts(), ++posts);
    }
  });
}

TEST_P(FabricBatches, ManyMegabytesToAllNodesAtOnce) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::size_t kPiece = 100'000;
    constexpr std::size_t kPieces = 20;
    const SharedRegion region = *fabric.Share(kPiece * kPieces);
    const auto mine = Pattern(kPiece * kPieces, job.self());
    std::copy(mine.begin(), mine.end(), region.memory.begin());
    ASSERT_TRUE(job.Exchange(""));
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::vector<std::byte>> got(job.nodes());
    for (NodeId node = 0; node < job.nodes(); ++node) {
      got[node].resize(kPiece * kPieces);
      for (std::size_t i = 0; i < kPieces; ++i) {
        endpoint.Read(node, region.id, i * kPiece, AsBytes(got[node]).subspan(i * kPiece, kPiece));
      }
    }
    ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
    for (NodeId node = 0; node < job.nodes(); ++node) {
      EXPECT_TRUE(got[node] == Pattern(kPiece * kPieces, node)) << "from node " << node;
    }
  });
}

TEST_P(FabricBatches, AFailureFlushesTheWholeRestOfTheDoorbell) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::uint64_t kOperations = 5000;
    const SharedRegion region = *fabric.Share(64);
    Endpoint& endpoint = fabric.endpoint(0);
    for (std::uint64_t i = 0; i < kOperations; ++i) {
      endpoint.FetchAdd(RightOf(job), region.id, i == 100 ? 4096 : 0, 1, nullptr, i, Signal::kNo);
    }
    const auto completions = Complete(endpoint);
    ASSERT_EQ(completions.size(), kOperations - 100);
    EXPECT_EQ(completions[0].outcome, Outcome::kOutOfRange);
    for (std::size_t i = 1; i < completions.size(); ++i) {
      ASSERT_EQ(completions[i].outcome, Outcome::kFlushed) << completions[i].tag;
    }
    std::uint64_t count = 0;
    endpoint.FetchAdd(RightOf(job), region.id, 0, 0, &count);
    ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_EQ(count, 100u);
  });
}

}  // namespace

}  // namespace slimgraph
