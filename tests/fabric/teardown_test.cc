// Teardown in the middle of traffic: of a fabric without Close(), and of message handlers. Nothing
// is executed on freed memory, and nobody waits.
#include <array>
#include <atomic>
#include <deque>
#include <vector>

#include "slimgraph/base/sync.h"
#include "tests/fabric/conformance.h"

namespace slimgraph {
namespace {

using namespace std::chrono_literals;

constexpr HandlerId kNoise = 9;
constexpr std::uint64_t kRegionBytes = 4 << 20;
constexpr std::uint64_t kPlaceBytes = 200 << 10;
constexpr std::uint32_t kEndpoints = 2;

class FabricTeardown : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricTeardown, ::testing::ValuesIn(MultiNodeSettings(4)),
                         NameOfSetting);

// A thread that keeps operations of all kinds, short and long, and messages outstanding to all
// other nodes until it is stopped. It waits for none of them.
class Load {
 public:
  Load(Fabric& fabric, std::uint32_t index, RegionId region)
      : fabric_(fabric),
        endpoint_(fabric.endpoint(index)),
        region_(region),
        own_place_(kRegionBytes / 2 + (fabric.self() * kEndpoints + index) * kPlaceBytes),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  // Waits until traffic is flowing.
  void Await() const {
    while (!under_way_) SleepFor(1ms);
  }

  // Stops the thread. Outstanding operations continue, from and to the buffers.
  void Stop() {
    thread_.request_stop();
    thread_.join();
  }

 private:
  void Run(const std::stop_token& stop) {
    std::vector<Completion> ended;
    std::uint64_t num_ended = 0;
    while (!stop.stop_requested()) {
      for (NodeId node = 0; node < fabric_.nodes(); ++node) {
        if (node != fabric_.self() && endpoint_.outstanding() < 100) Post(node);
      }
      ended.clear();
      if (endpoint_.Poll(ended) == 0) endpoint_.Wait(1ms);
      num_ended += ended.size();
      if (num_ended > 200) under_way_ = true;
    }
    for (NodeId node = 0; node < fabric_.nodes(); ++node) {
      if (node != fabric_.self()) Post(node);
    }
  }

  void Post(NodeId node) {
    endpoint_.Read(node, region_, 0, long_);
    endpoint_.Write(node, region_, own_place_, long_);
    for (std::uint64_t i = 0; i < 4; ++i) {
      endpoint_.Read(node, region_, 4096 * i, short_);
      endpoint_.Write(node, region_, 4096 * i, short_);
      endpoint_.FetchAdd(node, region_, 4096 * i + 64, 1, &old_);
    }
    endpoint_.Ring();
    if (endpoint_.all_sent()) endpoint_.Send({node, endpoint_.address().endpoint}, kNoise, short_);
  }

  Fabric& fabric_;
  Endpoint& endpoint_;
  const RegionId region_;
  const std::uint64_t own_place_;  // for long writes, in all regions
  std::vector<std::byte> long_ = std::vector<std::byte>(kPlaceBytes);
  std::array<std::byte, 48> short_{};
  std::uint64_t old_ = 0;
  std::atomic<bool> under_way_{false};
  Thread thread_;
};

// The last node destroys its fabric first, while the load of all others continues. Then the others
// do, with outstanding operations that a node without a fabric will never answer.
TEST_P(FabricTeardown, AnUnclosedFabricCanBeDestroyedUnderLoad) {
  const auto body = [](Job& job, std::unique_ptr<Fabric> fabric) {
    auto noise = fabric->SetHandler(kNoise, [](Endpoint&, const Message&) {});
    const auto region = fabric->Share(kRegionBytes);
    ASSERT_TRUE(region) << region.error().message;
    ASSERT_TRUE(job.Exchange(""));
    std::deque<Load> loads;
    for (std::uint32_t i = 0; i < kEndpoints; ++i) loads.emplace_back(*fabric, i, region->id);
    for (const Load& load : loads) load.Await();
    // The buffers are freed last, because the fabric may fill them until it is destroyed.
    const auto end = [&] {
      for (Load& load : loads) load.Stop();
      noise = {};
      fabric.reset();
      loads.clear();
    };
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == job.nodes() - 1) end();
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() != job.nodes() - 1) end();
    ASSERT_TRUE(job.Exchange(""));
  };
  OnEveryNodeUnclosed(body, {.transport = {}, .endpoints = kEndpoints});
}

// Messages keep arriving; those that arrive without a handler are dropped.
TEST_P(FabricTeardown, AHandlerIsNotRunningOnceItsRegistrationIsGone) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    HandlerRegistration handler = fabric.SetHandler(kNoise, [](Endpoint&, const Message&) {});
    ASSERT_TRUE(job.Exchange(""));
    Thread noise([&](const std::stop_token& stop) {
      Endpoint& endpoint = fabric.endpoint(0);
      std::vector<Completion> none;
      while (!stop.stop_requested()) {
        if (endpoint.all_sent()) endpoint.Send({RightOf(job), 0}, kNoise, {});
        if (endpoint.Poll(none) == 0) endpoint.Wait(1ms);
      }
    });
    for (int round = 0; round < 200; ++round) {
      const auto running = std::make_unique<std::atomic<bool>>(false);
      {
        // The handler is still running when its registration is destroyed.
        std::atomic<bool> leaves = false;
        const auto mine =
            fabric.SetHandler(kNoise, [inside = running.get(), &leaves](Endpoint&, const Message&) {
              *inside = true;
              for (int i = 0; i < 100 && !leaves; ++i) Yield();
              for (int i = 0; i < 100 && leaves; ++i) Yield();
              *inside = false;
            });
        while (!*running) Yield();
        leaves = true;
      }
      ASSERT_FALSE(*running);
    }
    ASSERT_TRUE(job.Exchange(""));
    noise.request_stop();
    noise.join();
    BarrierWhileServing(job, fabric.endpoint(0));
  });
}

}  // namespace
}  // namespace slimgraph
