// Datagrams of a queue pair that was in the error state: datagrams that were queued are lost, later
// ones arrive.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/fabric/internal/verbs/datagrams.h"
#include "tests/support/rdma_devices.h"

namespace slimgraph {
namespace {

constexpr std::uint32_t kNoKey = 0x7777'7777;
constexpr std::uint64_t kLongNs = 10'000'000'000;

TEST(VerbsDatagrams, WorkAgainAfterAnError) {
  if (RdmaDevices().empty()) GTEST_SKIP() << "no RDMA device";
  const auto ports = FindVerbsPorts();
  ASSERT_TRUE(ports) << ports.error().message;
  const auto device = *VerbsDevice::Open(ports->front());
  VerbsEvents events(::ibv_create_comp_channel(device->context()));
  const auto mine = *VerbsDatagrams::Make(*device, events.get());
  const auto theirs = *VerbsDatagrams::Make(*device, events.get());
  const VerbsRoute there = mine->RouteTo(theirs->address());
  const VerbsRoute back = theirs->RouteTo(mine->address());
  ASSERT_TRUE(there && back);

  std::vector<std::uint32_t> here, come;
  const auto into = [](std::vector<std::uint32_t>& numbers) {
    return [&numbers](Bytes datagram, std::uint32_t) {
      ASSERT_EQ(datagram.size(), sizeof(std::uint32_t));
      std::memcpy(&numbers.emplace_back(), datagram.data(), sizeof(std::uint32_t));
    };
  };
  const std::uint64_t start_ns = NowNs();
  for (std::uint32_t number = 0; come.size() < 20 || here.size() < 20; ++number) {
    ASSERT_LT(NowNs() - start_ns, kLongNs) << come.size() << " came, " << here.size() << " back";
    // A memory key that the device does not know puts the queue pair into the error state.
    const std::uint32_t key = number % 8 == 3 ? kNoKey : 0;
    const Bytes bytes = std::as_bytes(std::span(&number, 1));
    mine->Send(there.get(), theirs->address(), bytes, key);
    theirs->Send(back.get(), mine->address(), bytes, 0);
    mine->sent();
    theirs->Receive(into(come));
    mine->Receive(into(here));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(std::is_sorted(come.begin(), come.end()));
  EXPECT_TRUE(std::is_sorted(here.begin(), here.end()));
  for (const std::uint32_t number : come) EXPECT_NE(number % 8, 3u);
}

}  // namespace
}  // namespace slimgraph
