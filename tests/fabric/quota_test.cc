// What a job may send to the nodes that lend it memory, and read from them, in a second.
#include "slimgraph/fabric/bandwidth_quota.h"

#include "slimgraph/base/clock.h"
#include "tests/fabric/conformance.h"
#include "tests/support/node_processes.h"

namespace slimgraph {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRate = 4'000'000;
constexpr std::uint64_t kMoved = 1'000'000;
constexpr double kLeastSeconds = static_cast<double>(kMoved) / kRate;

TEST(BandwidthQuota, CountsWhatIsBetweenALenderAndAnotherNode) {
  constexpr std::uint64_t kNeeded = 1'000'000'000 / kRate * 1000;  // of 1,000 bytes
  EXPECT_EQ(BandwidthQuota::Make({.first_lender = 2}, 0, 4), nullptr);
  const Quota quota{.first_lender = 2, .bytes_per_s = kRate};
  for (const NodeId self : {0U, 3U}) {
    const auto booked = BandwidthQuota::Make(quota, self, 4);
    const NodeId peer = self == 0 ? 2 : 0;
    const std::uint64_t start = SharedNowNs();
    const auto first = booked->Book(peer, 1'000'000'000);
    EXPECT_EQ(first.begin_ns, 0U);
    EXPECT_GE(first.end_ns, start + 1'000'000 * kNeeded);
    const auto second = booked->Book(peer, 1000);
    EXPECT_EQ(second.begin_ns, first.end_ns);
    EXPECT_EQ(second.end_ns, first.end_ns + kNeeded);
    // Each pair has a rate of its own.
    EXPECT_EQ(booked->Book(peer + 1, 1000).begin_ns, 0U);
    EXPECT_EQ(booked->Book(self == 0 ? 1 : 2, 1'000'000).end_ns, 0U);
  }
}

// Node 0 reads from a lender, writes to it, and gets messages from it.
TEST(BandwidthQuota, HoldsForOperationsAndMessages) {
  for (const char* const transport : {"shm", "tcp"}) {
    const auto body = [&](Job& job) {
      constexpr HandlerId kHandler = 3;
      constexpr std::size_t kPiece = 50'000;
      const auto fabric = *Fabric::Open(job, {.transport = transport});
      const auto region = *fabric->Share(job.self() == 1 ? kMoved : 0);
      std::uint64_t received = 0;
      const auto handler = fabric->SetHandler(
          kHandler, [&](Endpoint&, const Message& message) { received += message.body.size(); });
      Endpoint& endpoint = fabric->endpoint(0);
      std::vector<std::byte> bytes(kPiece);
      for (const bool reads : {true, false}) {
        const std::uint64_t start_ns = NowNs();
        for (std::uint64_t at = 0; job.self() == 0 && at < kMoved; at += kPiece) {
          if (reads) endpoint.Read(1, region.id, at, bytes);
          if (!reads) endpoint.Write(1, region.id, at, bytes);
          for (const Completion& done : Complete(endpoint)) EXPECT_EQ(done.outcome, Outcome::kOk);
        }
        EXPECT_TRUE(job.self() != 0 || SecondsSince(start_ns) >= kLeastSeconds);
      }
      const std::uint64_t start_ns = NowNs();
      ASSERT_TRUE(job.Exchange(""));
      constexpr std::size_t kBody = 1000;
      for (std::uint64_t sent = 0; job.self() == 1 && sent < kMoved; sent += kBody) {
        endpoint.Send({0, 0}, kHandler, std::span(bytes).first(kBody));
      }
      EXPECT_TRUE(endpoint.WaitUntil(
          [&] { return job.self() == 0 ? received >= kMoved : endpoint.all_sent(); }, 30s));
      EXPECT_EQ(received, job.self() == 0 ? kMoved : 0);
      EXPECT_TRUE(job.self() != 0 || SecondsSince(start_ns) >= kLeastSeconds);
      BarrierWhileServing(job, endpoint);
      EXPECT_TRUE(fabric->Close());
    };
    ExpectNodesRun(2, body, 60, {.quota = {.first_lender = 1, .bytes_per_s = kRate}});
  }
}

}  // namespace
}  // namespace slimgraph
