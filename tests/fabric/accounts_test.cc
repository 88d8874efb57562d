// What is counted does not depend on the transport, and what waits costs nothing.
#include <sys/resource.h>

#include <cstdlib>

#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

using namespace std::chrono_literals;

class FabricAccounts : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricAccounts, ::testing::ValuesIn(SettingsFrom2(4)), NameOfSetting);

// The test's own book of a random job, by the rules of operation.h.
struct Book {
  std::map<std::pair<NodeId, TrafficKind>, TrafficCount> counts;

  void Note(NodeId node, TrafficKind kind, std::uint64_t payload, std::uint64_t header) {
    TrafficCount& count = counts[{node, kind}];
    ++count.operations;
    count.payload_bytes += payload;
    count.header_bytes += header;
  }
};

TEST_P(FabricAccounts, ARandomJobCountsWhatItsOperationsCost) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::uint64_t kPlaceBytes = 1 << 17;  // of each node in everyone's region
    const SharedRegion region = *fabric.Share(kPlaceBytes * job.nodes());
    const std::uint64_t place = kPlaceBytes * job.self();
    fabric.SetHandler(1, [](Endpoint&, const Message&) {});
    ASSERT_TRUE(job.Exchange(""));
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::byte> bytes(100'000);
    std::mt19937_64 random(4711 + job.self());  // the same on all transports
    Book book;
    std::uint64_t doorbells = 0;
    for (int round = 0; round < 50; ++round) {
      const NodeId node = static_cast<NodeId>(random() % job.nodes());
      const bool counted = node != job.self();  // the own memory costs no traffic
      const std::uint64_t operations = 1 + random() % 8;
      for (std::uint64_t i = 0; i < operations; ++i) {
        const std::uint64_t size = random() % bytes.size();
        const std::uint64_t kind = random() % 4;
        const auto note = [&](TrafficKind name, std::uint64_t payload, std::uint64_t operands) {
          if (counted) book.Note(node, name, payload, kOperationHeaderBytes + operands);
        };
        if (kind == 0) {
          endpoint.Read(node, region.id, place + 64, AsBytes(bytes).first(size));
          note(TrafficKind::kRead, size, 0);
        } else if (kind == 1) {
          endpoint.Write(node, region.id, place + 64, Bytes(bytes).first(size));
          note(TrafficKind::kWrite, size, 0);
        } else if (kind == 2) {
          endpoint.FetchAdd(node, region.id, place + 8, 1, nullptr);
          note(TrafficKind::kFetchAdd, 8, kAtomicOperandBytes);
        } else {
          endpoint.CompareSwap(node, region.id, place + 16, 0, 1, nullptr);
          note(TrafficKind::kCompareSwap, 8, 2 * kAtomicOperandBytes);
        }
      }
      ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
      doorbells += counted ? 1 : 0;
    }
    for (std::uint64_t size : {0u, 10u, 1000u}) {
      endpoint.Send({RightOf(job), 0}, 1, Bytes(bytes).first(size));
      book.Note(RightOf(job), TrafficKind::kMessage, size, kMessageHeaderBytes);
    }
    TrafficCount wanted;
    for (const auto& [where, count] : book.counts) {
      wanted += count;
      const TrafficCount got = endpoint.traffic().OfPeer(where.first);
      EXPECT_GE(got.operations, count.operations);
    }
    wanted.round_trips = doorbells;
    wanted.header_bytes += doorbells * 2 * kMessageHeaderBytes;
    const TrafficCount total = endpoint.traffic().Total();
    EXPECT_EQ(total.operations, wanted.operations);
    EXPECT_EQ(total.payload_bytes, wanted.payload_bytes);
    EXPECT_EQ(total.header_bytes, wanted.header_bytes);
    EXPECT_EQ(total.round_trips, wanted.round_trips);
    MeetServing(job, endpoint);
  });
}

double ProcessorSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

TEST_P(FabricAccounts, AParkedNodeUsesUnderOnePercentOfAProcessor) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(64);
    Endpoint& endpoint = fabric.endpoint(0);
    endpoint.FetchAdd(RightOf(job), region.id, 0, 1, nullptr);
    ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
    ASSERT_TRUE(job.Exchange(""));
    endpoint.Wait(300ms);  // whatever still had to settle
    const double before_s = ProcessorSeconds();
    endpoint.Wait(2s);
    const bool emulated = std::getenv("TEST_EMULATED") != nullptr;  // ten times as slow
    EXPECT_LT(ProcessorSeconds() - before_s, emulated ? 0.2 : 0.02);
  });
}

}  // namespace

}  // namespace slimgraph
