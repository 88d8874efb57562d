// Traffic counts do not depend on the transport, and waiting uses no processor time.
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

using namespace std::chrono_literals;

class FabricAccounts : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricAccounts, ::testing::ValuesIn(MultiNodeSettings(4)),
                         NameOfSetting);

// The test's own counts of a random job, by the rules of operation.h; the same for all transports.
struct Book {
  std::map<std::pair<NodeId, TrafficKind>, TrafficCount> counts;

  void Note(NodeId node, TrafficKind kind, std::uint64_t payload, std::uint64_t header) {
    TrafficCount& count = counts[{node, kind}];
    ++count.operations;
    count.payload_bytes += payload;
    count.header_bytes += header;
  }
  // The headers of the request and the reply are counted with the first operation of a doorbell.
  void NoteRoundTrip(NodeId node, TrafficKind kind) {
    TrafficCount& count = counts[{node, kind}];
    ++count.round_trips;
    count.header_bytes += 2 * kMessageHeaderBytes;
  }
};

TEST_P(FabricAccounts, ARandomJobCountsWhatItsOperationsCost) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::uint64_t kPlaceBytes = 1 << 17;  // each node writes to its own part of all
                                                    // regions
    const SharedRegion region = *fabric.Share(kPlaceBytes * job.nodes());
    const std::uint64_t place = kPlaceBytes * job.self();
    const auto handler = fabric.SetHandler(1, [](Endpoint&, const Message&) {});
    ASSERT_TRUE(job.Exchange(""));
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::byte> bytes(100'000);
    std::mt19937_64 random(4711 + job.self());  // the same on all transports
    Book book;
    for (int round = 0; round < 50; ++round) {
      const NodeId node = static_cast<NodeId>(random() % job.nodes());
      const bool counted = node != job.self();  // access to the own memory is not traffic
      const std::uint64_t operations = 1 + random() % 8;
      bool first = counted;
      for (std::uint64_t i = 0; i < operations; ++i) {
        const std::uint64_t size = random() % bytes.size();
        const std::uint64_t kind = random() % 4;
        const auto note = [&](TrafficKind name, std::uint64_t payload, std::uint64_t operands) {
          if (!counted) return;
          book.Note(node, name, payload, kOperationHeaderBytes + operands);
          if (std::exchange(first, false)) book.NoteRoundTrip(node, name);
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
    }
    for (std::uint64_t size : {0u, 10u, 1000u}) {
      endpoint.Send({RightOf(job), 0}, 1, Bytes(bytes).first(size));
      book.Note(RightOf(job), TrafficKind::kMessage, size, kMessageHeaderBytes);
    }
    Traffic traffic = endpoint.traffic();
    TrafficCount wanted;
    for (const auto& [where, count] : book.counts) {
      wanted += count;
      EXPECT_TRUE(traffic.at(kUnnamedStage, where.first, where.second) == count)
          << TrafficKindName(where.second) << " to node " << where.first;
    }
    EXPECT_TRUE(traffic.Total() == wanted);
    BarrierWhileServing(job, endpoint);
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
    endpoint.Wait(300ms);  // until late background work has ended
    double least_s = 1;    // per second; the least of three, because other processes on this
                           // machine cause noise
    for (int i = 0; i < 3; ++i) {
      const double before_s = ProcessorSeconds();
      endpoint.Wait(1s);
      least_s = std::min(least_s, ProcessorSeconds() - before_s);
    }
    const bool emulated = std::getenv("TEST_EMULATED") != nullptr;  // ten times as slow
    EXPECT_LT(least_s, emulated ? 0.1 : 0.01);
  });
}

}  // namespace

}  // namespace slimgraph
