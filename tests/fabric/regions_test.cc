// Regions that are shared while endpoints are in use.
#include <chrono>
#include <cstring>
#include <span>

#include "slimgraph/base/sync.h"
#include "slimgraph/launch/job.h"
#include "tests/fabric/conformance.h"

namespace slimgraph {
namespace {

using std::chrono_literals::operator""ms;

class FabricRegions : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricRegions, ::testing::ValuesIn(MultiNodeSettings(4)),
                         NameOfSetting);

constexpr HandlerId kWriteBack = 1;

// Endpoint 1 of every node writes into the region that a message names, at the message's sender.
// The message may arrive before Share() has returned on its own node.
TEST_P(FabricRegions, AreReachableFromANodeWhoseShareHasNotReturned) {
  const auto body = [](Job& job, Fabric& fabric) {
    static constexpr std::uint64_t kOne = 1;
    const auto handler =
        fabric.SetHandler(kWriteBack, [](Endpoint& endpoint, const Message& message) {
          RegionId region = 0;
          std::memcpy(&region, message.body.data(), sizeof region);
          endpoint.Write(message.from.node, region, 0, std::as_bytes(std::span(&kOne, 1)));
          endpoint.Ring();
        });
    ASSERT_TRUE(job.Exchange(""));
    Thread server([&](const std::stop_token& stop) {
      Endpoint& endpoint = fabric.endpoint(1);
      std::vector<Completion> ended;
      while (!stop.stop_requested()) {
        endpoint.Wait(50ms);
        endpoint.Poll(ended);
      }
      for (const Completion& completion : ended) EXPECT_EQ(completion.outcome, Outcome::kOk);
    });
    for (int round = 0; round < 40; ++round) {
      const SharedRegion region = *fabric.Share(64);
      Endpoint& endpoint = fabric.endpoint(0);
      endpoint.Send({RightOf(job), 1}, kWriteBack, std::as_bytes(std::span(&region.id, 1)));
      ASSERT_TRUE(AwaitWord(endpoint, region.memory.data(), 1)) << "round " << round;
    }
    ASSERT_TRUE(job.Exchange(""));
  };
  OnEveryNode(body, {.transport = {}, .endpoints = 2});
}

}  // namespace
}  // namespace slimgraph
