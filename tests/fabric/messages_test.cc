// Two-sided messages arrive whole, in order and without loss, also if the receiver is slow, and are
// acknowledged.
#include <cstring>

#include "slimgraph/base/sync.h"
#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

using namespace std::chrono_literals;

class FabricMessages : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricMessages, ::testing::ValuesIn(AllSettings()), NameOfSetting);

constexpr HandlerId kNumbered = 3;
constexpr HandlerId kEcho = 4;

// A body that begins with its number, which determines its size and bytes.
std::vector<std::byte> NumberedBody(std::uint32_t number, NodeId from) {
  constexpr std::size_t kSizes[] = {4, 5, 64, 700, 9000, kMaxMessageBytes};
  auto body = Pattern(kSizes[number % std::size(kSizes)], number * 64 + from);
  std::memcpy(body.data(), &number, sizeof number);
  return body;
}

// Counts and checks the messages from each node.
struct Receiver {
  explicit Receiver(Fabric& fabric) {
    handler = fabric.SetHandler(kNumbered, [this](Endpoint&, const Message& message) {
      std::uint32_t number;
      std::memcpy(&number, message.body.data(), sizeof number);
      EXPECT_EQ(number, next[message.from.node]++) << "from node " << message.from.node;
      const auto wanted = NumberedBody(number, message.from.node);
      EXPECT_TRUE(
          std::equal(message.body.begin(), message.body.end(), wanted.begin(), wanted.end()));
    });
  }
  bool Has(std::uint32_t of_each) const {
    return std::all_of(next.begin(), next.end(), [=](auto n) { return n == of_each; });
  }
  std::vector<std::uint32_t> next = std::vector<std::uint32_t>(kMaxNodes);
  HandlerRegistration handler;
};

void SendAllToAll(Job& job, Fabric& fabric) {
  constexpr std::uint32_t kMessages = 300;
  Receiver receiver(fabric);
  receiver.next.resize(job.nodes());
  ASSERT_TRUE(job.Exchange(""));
  Endpoint& endpoint = fabric.endpoint(0);
  std::vector<Completion> none;
  for (std::uint32_t number = 0; number < kMessages; ++number) {
    const auto body = NumberedBody(number, job.self());
    for (NodeId to = 0; to < job.nodes(); ++to) endpoint.Send({to, 0}, kNumbered, body);
    endpoint.Poll(none);
  }
  EXPECT_TRUE(endpoint.WaitUntil([&] { return receiver.Has(kMessages); }, 100s));
  BarrierWhileServing(job, endpoint);
}

TEST_P(FabricMessages, FromAllToAllInOrderAndWhole) { OnEveryNode(SendAllToAll); }

TEST_P(FabricMessages, AreWholeInOrderAndOnceDespiteLosses) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    fabric.endpoint(0).faults().LoseAtRandom(0.1, TestSeed() + job.self());
    SendAllToAll(job, fabric);
    fabric.endpoint(0).faults().Clear();
  });
}

TEST_P(FabricMessages, StayInOrderUnderANetworkModel) {
  OnEveryNode(SendAllToAll, {.transport = {}, .network = "edr", .endpoints = 1});
}

TEST_P(FabricMessages, ASleepingReceiverLosesNothing) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::uint32_t kMessages = 600;  // 4 MiB from each node
    Receiver receiver(fabric);
    ASSERT_TRUE(job.Exchange(""));
    Endpoint& endpoint = fabric.endpoint(0);
    receiver.next.resize(job.nodes());
    receiver.next[0] = kMessages;
    if (job.self() != 0) {
      for (std::uint32_t number = 0; number < kMessages; ++number) {
        endpoint.Send({0, 0}, kNumbered, NumberedBody(number, job.self()));
      }
    }
    ASSERT_TRUE(job.Exchange(""));  // node 0 has not polled so far
    // And it does not poll for longer than any timeout after which a silent peer counts as dead.
    if (job.self() == 0 && job.nodes() == 2) SleepFor(4s);
    if (job.self() == 0) {
      EXPECT_TRUE(endpoint.WaitUntil([&] { return receiver.Has(kMessages); }, 100s));
    }
    BarrierWhileServing(job, endpoint);
  });
}

TEST_P(FabricMessages, CanBeAnsweredByAHandler) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    std::uint32_t answers = 0;
    const auto echo = fabric.SetHandler(kEcho, [](Endpoint& endpoint, const Message& message) {
      endpoint.Send(message.from, kNumbered, message.body);
    });
    const auto count = fabric.SetHandler(kNumbered, [&](Endpoint&, const Message&) { ++answers; });
    ASSERT_TRUE(job.Exchange(""));
    Endpoint& endpoint = fabric.endpoint(0);
    for (std::uint32_t i = 0; i < 50; ++i) {
      endpoint.Send({RightOf(job), 0}, kEcho, NumberedBody(i, job.self()));
      EXPECT_TRUE(endpoint.WaitUntil([&] { return answers == i + 1; }, 10s));
    }
    BarrierWhileServing(job, endpoint);
    EXPECT_EQ(answers, 50u);
  });
}

TEST_P(FabricMessages, AreAcknowledgedWithoutBeingAnswered) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const auto handler = fabric.SetHandler(kNumbered, [](Endpoint&, const Message&) {});
    ASSERT_TRUE(job.Exchange(""));
    Endpoint& endpoint = fabric.endpoint(0);
    const EndpointAddress to{RightOf(job), 0};
    for (std::uint32_t i = 0; i < 200; ++i) endpoint.Send(to, kNumbered, {});
    EXPECT_TRUE(endpoint.WaitUntil([&] { return endpoint.acknowledged(to) >= 128; }, 20s));
    EXPECT_LE(endpoint.acknowledged(to), 200u);
    BarrierWhileServing(job, endpoint);
  });
}

// Every endpoint has its own thread, and all of them send and read at the same time.
TEST_P(FabricMessages, EndpointsOfOneNodeDoNotDisturbEachOther) {
  FabricOptions options;
  options.endpoints = 3;
  OnEveryNode(
      [](Job& job, Fabric& fabric) {
        constexpr int kRounds = 40;
        const SharedRegion region = *fabric.Share(1 << 16);
        std::vector<std::atomic<int>> handled(fabric.endpoints());
        const auto handler =
            fabric.SetHandler(kNumbered, [&](Endpoint& endpoint, const Message& message) {
              EXPECT_EQ(message.from.endpoint, endpoint.address().endpoint);
              ++handled[endpoint.address().endpoint];
            });
        ASSERT_TRUE(job.Exchange(""));
        const auto work = [&](std::uint32_t index) {
          Endpoint& endpoint = fabric.endpoint(index);
          std::vector<std::byte> bytes(3000);
          for (int round = 0; round < kRounds; ++round) {
            endpoint.Send({RightOf(job), index}, kNumbered, Bytes(bytes).first(100));
            endpoint.Read(RightOf(job), region.id, index * 4096, bytes);
            endpoint.FetchAdd(RightOf(job), region.id, 60'000, 1, nullptr);
            EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
          }
          EXPECT_TRUE(endpoint.WaitUntil([&] { return handled[index] == kRounds; }, 100s));
        };
        std::vector<Thread> threads;
        for (std::uint32_t i = 0; i < fabric.endpoints(); ++i)
          threads.emplace_back([&, i] { work(i); });
        for (Thread& thread : threads) thread.join();
        ASSERT_TRUE(job.Exchange(""));
        std::uint64_t total = 0;
        fabric.endpoint(0).FetchAdd(RightOf(job), region.id, 60'000, 0, &total);
        EXPECT_EQ(fabric.endpoint(0).Flush(), Outcome::kOk);
        EXPECT_EQ(total, std::uint64_t{kRounds} * fabric.endpoints());
      },
      options);
}

}  // namespace

}  // namespace slimgraph
