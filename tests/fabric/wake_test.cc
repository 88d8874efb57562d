// Another thread wakes a waiting endpoint. If a wake-up is lost, the test does not end.
#include <gtest/gtest.h>

#include <atomic>

#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/fabric.h"
#include "tests/fabric/conformance.h"

namespace slimgraph {
namespace {

constexpr std::chrono::hours kForever(1);

class WokenEndpoint : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("verbs") && RdmaDevices().empty()) {
      GTEST_SKIP() << "no RDMA device";
    }
    auto fabric = Fabric::Open(*job_, {.transport = GetParam()});
    ASSERT_TRUE(fabric) << fabric.error().message;
    fabric_ = std::move(*fabric);
  }

  std::unique_ptr<Job> job_ = Job::Alone();
  std::unique_ptr<Fabric> fabric_;
};

INSTANTIATE_TEST_SUITE_P(Transports, WokenEndpoint, ::testing::Values("shm", "tcp", "verbs"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(WokenEndpoint, ChecksAgainAfterEveryWake) {
  Endpoint& endpoint = fabric_->endpoint(0);
  std::atomic<int> asked{0};
  std::atomic<int> seen{0};
  constexpr int kRounds = 20'000;
  Thread waker([&] {
    for (int round = 1; round <= kRounds; ++round) {
      asked = round;
      endpoint.Wake();
      while (seen < round) Yield();
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    ASSERT_TRUE(endpoint.WaitUntil([&] { return asked >= round; }, kForever));
    seen = round;
  }
  waker.join();
}

TEST_P(WokenEndpoint, EndsItsWaitWithoutNews) {
  Endpoint& endpoint = fabric_->endpoint(0);
  Thread waker([&] { endpoint.Wake(); });
  EXPECT_FALSE(endpoint.Wait(kForever));
  waker.join();
}

}  // namespace
}  // namespace slimgraph
