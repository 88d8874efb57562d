// Injected faults have the same effect on all transports, and so does the network model.
#include <cstring>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

using namespace std::chrono_literals;

class FabricFaults : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricFaults, ::testing::ValuesIn(MultiNodeSettings(4)),
                         NameOfSetting);

TEST_P(FabricFaults, ADelayedNodeAnswersLate) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(64);
    Endpoint& endpoint = fabric.endpoint(0);
    endpoint.faults().Delay(RightOf(job), 30ms);
    const std::uint64_t start_ns = SharedNowNs();
    endpoint.FetchAdd(RightOf(job), region.id, 0, 1, nullptr);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_GE(SharedNowNs() - start_ns, 30'000'000u);
  });
}

// The first message of each pair is polled before it is due, the second when both are due.
TEST_P(FabricFaults, DelayedMessagesStayInOrder) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr HandlerId kNumber = 5;
    constexpr auto kDelay = 40ms;
    std::vector<std::uint32_t> numbers;
    const auto handler = fabric.SetHandler(kNumber, [&](Endpoint&, const Message& message) {
      std::memcpy(&numbers.emplace_back(), message.body.data(), sizeof(std::uint32_t));
    });
    ASSERT_TRUE(job.Exchange(""));
    Endpoint& endpoint = fabric.endpoint(0);
    endpoint.faults().Delay(RightOf(job), kDelay);
    std::vector<Completion> none;
    for (std::uint32_t i = 0; i < 6; ++i) {
      endpoint.Send({RightOf(job), 0}, kNumber, std::as_bytes(std::span(&i, 1)));
      ASSERT_TRUE(job.Exchange(""));
      if (i % 2 == 0) {
        endpoint.Poll(none);
      } else {
        const std::uint64_t due_ns = NowNs() + std::chrono::nanoseconds(kDelay).count();
        while (NowNs() < due_ns) Yield();
      }
    }
    EXPECT_TRUE(endpoint.WaitUntil([&] { return numbers.size() == 6; }, 20s));
    EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
    BarrierWhileServing(job, endpoint);
  });
}

TEST_P(FabricFaults, AnInjectedFailureFlushesTheRest) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(64);
    Endpoint& endpoint = fabric.endpoint(0);
    for (const std::uint32_t operations : {3u, 3000u}) {
      endpoint.faults().FailNext(RightOf(job), 1);
      for (std::uint32_t i = 0; i < operations; ++i) {
        endpoint.FetchAdd(RightOf(job), region.id, 8, 1, nullptr, i + 1, Signal::kNo);
      }
      const auto completions = Complete(endpoint);
      std::size_t flushed = 0;
      for (const Completion& completion : completions) {
        EXPECT_EQ(completion.outcome == Outcome::kFailed, completion.tag == 2);
        flushed += completion.outcome == Outcome::kFlushed ? 1 : 0;
      }
      EXPECT_EQ(flushed, operations - 2);
    }
    std::uint64_t done = 0;
    endpoint.FetchAdd(RightOf(job), region.id, 8, 0, &done);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_EQ(done, 2u);
  });
}

TEST_P(FabricFaults, ACutNodeIsLostAndTheOthersAreNot) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(64);
    Endpoint& endpoint = fabric.endpoint(0);
    endpoint.faults().Cut(RightOf(job));
    endpoint.FetchAdd(RightOf(job), region.id, 0, 1, nullptr);
    EXPECT_EQ(endpoint.Flush(), Outcome::kPeerLost);
    for (NodeId node = 0; node < job.nodes(); ++node) {
      if (node != RightOf(job)) endpoint.FetchAdd(node, region.id, 8, 1, nullptr);
    }
    EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
    endpoint.faults().Clear();
    endpoint.FetchAdd(RightOf(job), region.id, 0, 1, nullptr);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
  });
}

// Adds to this node's own word on the right neighbour, under random failures. At the end the word
// must equal the number of additions that were reported as successful.
TEST_P(FabricFaults, FailedOperationsAreNotExecuted) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(64);
    Endpoint& endpoint = fabric.endpoint(0);
    endpoint.faults().FailAtRandom(0.3, TestSeed() + job.self());
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::mt19937_64 random(TestSeed());
    for (int doorbell = 0; doorbell < 300; ++doorbell) {
      const auto operations = 1 + random() % 40;
      for (std::uint64_t i = 0; i < operations; ++i) {
        endpoint.FetchAdd(RightOf(job), region.id, 0, 1, nullptr);
      }
      for (const Completion& completion : Complete(endpoint)) {
        ++(completion.outcome == Outcome::kOk ? done : failed);
      }
    }
    endpoint.faults().Clear();
    std::uint64_t count = 0;
    endpoint.FetchAdd(RightOf(job), region.id, 0, 0, &count);
    EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_EQ(count, done);
    EXPECT_GT(failed, 0u);
  });
}

TEST_P(FabricFaults, TheNetworkModelIsNoFasterThanItsNetwork) {
  FabricOptions options;
  options.network = "tcp10";  // 50 us, 1.1 GB/s
  OnEveryNode(
      [](Job& job, Fabric& fabric) {
        constexpr std::size_t kBytes = 1 << 20;
        const SharedRegion region = *fabric.Share(kBytes);
        Endpoint& endpoint = fabric.endpoint(0);
        std::vector<std::byte> bytes(kBytes);
        std::uint64_t start_ns = NowNs();
        endpoint.FetchAdd(RightOf(job), region.id, 0, 1, nullptr);
        EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
        EXPECT_GE(NowNs() - start_ns, 50'000u);
        start_ns = NowNs();
        for (int i = 0; i < 10; ++i) endpoint.Read(RightOf(job), region.id, 0, bytes);
        EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
        EXPECT_GE(SecondsSince(start_ns), 10 * static_cast<double>(kBytes) / 1.1e9);
      },
      options);
}

}  // namespace

}  // namespace slimgraph
