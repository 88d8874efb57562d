// A node that dies: outstanding operations on it end, nobody waits for it, and the other nodes
// continue.

#include "slimgraph/base/clock.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/sync.h"
#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

using namespace std::chrono_literals;

class FabricLoss : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricLoss, ::testing::ValuesIn(MultiNodeSettings(4)), NameOfSetting);

double NoticedWithinS(const std::string& transport) { return transport == "verbs" ? 2 : 5; }

TEST_P(FabricLoss, OperationsOnADeadNodeEndInPeerLost) {
  const NodeId victim = nodes() - 1;
  const double within_s = NoticedWithinS(transport());
  OnSurvivors(victim, [=](Job& job, Fabric& fabric) {
    constexpr std::size_t kBytes = 1 << 20;
    const SharedRegion region = *fabric.Share(kBytes);
    const SharedRegion meeting = *fabric.Share(16);  // the victim's last write may still change
                                                     // `region`
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::byte> bytes(kBytes);
    // The victim kills itself in the middle of its own traffic and that of the others.
    if (job.self() == victim) {
      for (int round = 0; round < 20; ++round) {
        endpoint.Read(0, region.id, 0, bytes);
        endpoint.Write(0, region.id, 0, bytes);
        if (round < 19) {
          ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
        } else {
          endpoint.Ring();
        }
      }
      KillProcess();
    }
    Outcome outcome = Outcome::kOk;
    std::uint64_t last_good_ns = NowNs();
    for (std::uint64_t round = 0; outcome == Outcome::kOk; ++round) {
      last_good_ns = NowNs();
      endpoint.Read(victim, region.id, 0, bytes);
      endpoint.Write(victim, region.id, round % 1000, Bytes(bytes).first(3000));
      endpoint.FetchAdd(victim, region.id, 8, 1, nullptr);
      outcome = endpoint.Flush();
    }
    EXPECT_EQ(outcome, Outcome::kPeerLost) << OutcomeName(outcome);
    EXPECT_LT(SecondsSince(last_good_ns), within_s);
    // Later operations fail as well, and at once.
    const std::uint64_t start_ns = NowNs();
    EXPECT_TRUE(endpoint.WaitUntil([&] { return !job.alive(victim); }, 5s));
    endpoint.FetchAdd(victim, region.id, 8, 1, nullptr);
    EXPECT_EQ(endpoint.Flush(), Outcome::kPeerLost);
    endpoint.Send({victim, 0}, 1, Bytes(bytes).first(100));
    EXPECT_LT(SecondsSince(start_ns), within_s);
    BarrierWithout(victim, job, endpoint, meeting);  // the others are still reachable
  });
}

// After the fence, memory does not change any more, whatever the victim had sent before its death.
TEST_P(FabricLoss, AfterAFenceNoOperationOfADeadNodeIsExecuted) {
  const NodeId victim = nodes() - 1;
  OnSurvivors(victim, [=](Job& job, Fabric& fabric) {
    constexpr std::size_t kBytes = 4 << 20;
    const SharedRegion region = *fabric.Share(kBytes);
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::byte> bytes(kBytes);
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == victim) {
      for (int round = 1; round < 8; ++round) {
        std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(round));
        for (NodeId node = 0; node < victim; ++node) endpoint.Write(node, region.id, 0, bytes);
        endpoint.Ring();
        std::vector<Completion> ended;
        if (round % 2 == 0) endpoint.Poll(ended);
      }
      KillProcess();
    }
    EXPECT_TRUE(endpoint.WaitUntil([&] { return !job.alive(victim); }, 5s));
    const Status fenced = fabric.Fence(victim);
    EXPECT_EQ(fenced.has_value(), fabric.survives_deaths());
    if (!fenced) return;
    const std::vector<std::byte> before(region.memory.begin(), region.memory.end());
    for (int look = 0; look < 20; ++look) {
      ASSERT_TRUE(std::equal(before.begin(), before.end(), region.memory.begin()));
    }
  });
}

TEST_P(FabricLoss, AMessageToADeadNodeIsDropped) {
  const NodeId victim = nodes() - 1;
  OnSurvivors(victim, [=](Job& job, Fabric& fabric) {
    const auto handler = fabric.SetHandler(1, [](Endpoint&, const Message&) {});
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == victim) KillProcess();
    Endpoint& endpoint = fabric.endpoint(0);
    const std::vector<std::byte> body(kMaxMessageBytes);
    // Much more than any buffer holds.
    for (int i = 0; i < 300; ++i) endpoint.Send({victim, 0}, 1, body);
    EXPECT_TRUE(endpoint.WaitUntil([&] { return !job.alive(victim) && endpoint.all_sent(); }, 5s));
  });
}

// Also if the endpoint has not polled since.
TEST_P(FabricLoss, AFabricDoesNotWaitForADeadNodeWhenItIsDestroyed) {
  const NodeId victim = nodes() - 1;
  OnSurvivorsUnclosed(victim, [=](Job& job, std::unique_ptr<Fabric> fabric) {
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == victim) KillProcess();
    fabric->endpoint(0).Send({victim, 0}, 1, {});
    const std::uint64_t start_ns = NowNs();
    while (job.alive(victim) && SecondsSince(start_ns) < 5) SleepFor(1ms);
    EXPECT_FALSE(job.alive(victim));
    const std::uint64_t dead_ns = NowNs();
    fabric.reset();
    EXPECT_LT(SecondsSince(dead_ns), 0.5);
  });
}

}  // namespace

}  // namespace slimgraph
