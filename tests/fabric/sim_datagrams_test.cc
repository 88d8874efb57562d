// Links and nodes that fail in a simulation: whoever sends messages over datagrams must not wait
// forever.
#ifdef SLIMGRAPH_SIM
#include <csignal>
#include <optional>

#include "slimgraph/base/process.h"
#include "slimgraph/base/sim/network.h"
#include "slimgraph/base/sync.h"
#include "tests/fabric/conformance.h"
#include "tests/support/node_processes.h"

namespace slimgraph {
namespace {

using namespace std::chrono_literals;

// Both nodes still have a link to the hub.
TEST(SimDatagrams, ALinkThatIsCutEndsTheJob) {
  for (const bool there : {true, false}) {
    const NodesEnd end = RunNodes(
        3, OnLoss::kEndJob,
        [there](Job& job) {
          const auto fabric =
              *Fabric::Open(job, {.transport = "sim-datagrams", .network = "none", .endpoints = 1});
          const auto handler = fabric->SetHandler(1, [](Endpoint&, const Message&) {});
          ASSERT_TRUE(job.Exchange(""));
          if (job.self() == 1) {
            // The message is lost, or its acknowledgement.
            sim::Network::Current().Cut(there ? 1 : 2, there ? 2 : 1);
            fabric->endpoint(0).Send({2, 0}, 1, {});
          }
          fabric->endpoint(0).WaitUntil([] { return false; }, 1000s);
          ADD_FAILURE() << "node " << job.self() << " goes on";
        },
        30);
    EXPECT_EQ(end.output, "");
    EXPECT_EQ(end.codes, (std::vector<int>{4, 4, 4}));
  }
}

// So it does after a death that the job has survived.
TEST(SimDatagrams, ALinkThatIsCutAfterADeathEndsTheJob) {
  for (const bool there : {true, false}) {
    const NodesEnd end = RunNodes(
        4, OnLoss::kEndJob,
        [there](Job& job) {
          job.SurviveDeaths(true);
          const auto fabric =
              *Fabric::Open(job, {.transport = "sim-datagrams", .network = "none", .endpoints = 1});
          const auto handler = fabric->SetHandler(1, [](Endpoint&, const Message&) {});
          ASSERT_TRUE(job.Exchange(""));
          if (job.self() == 3) KillProcess();
          Endpoint& endpoint = fabric->endpoint(0);
          ASSERT_TRUE(endpoint.WaitUntil([&] { return !job.alive(3); }, 10s));
          if (job.self() == 1) {
            sim::Network::Current().Cut(there ? 1 : 2, there ? 2 : 1);
            endpoint.Send({2, 0}, 1, {});
          }
          endpoint.WaitUntil([] { return false; }, 1000s);
          ADD_FAILURE() << "node " << job.self() << " goes on";
        },
        30);
    EXPECT_EQ(end.output, "");
    EXPECT_EQ(end.codes, (std::vector<int>{4, 4, 4, 128 + SIGKILL}));
  }
}

// The death of a node is noticed also if it dies while the others open their endpoints.
TEST(SimDatagrams, ADeathDuringTheOpeningIsNoticed) {
  for (int run = 0; run < 300; ++run) {
    const NodesEnd end = RunNodes(
        2, OnLoss::kReport,
        [run](Job& job) {
          job.SurviveDeaths(true);
          std::optional<Thread> killer;
          if (job.self() == 1) {
            killer.emplace([run] {
              SleepFor(std::chrono::microseconds(10 * run));
              KillProcess();
            });
          }
          const auto fabric =
              Fabric::Open(job, {.transport = "sim-datagrams", .network = "none", .endpoints = 1});
          if (!fabric) return;
          Endpoint& endpoint = (*fabric)->endpoint(0);
          const auto handler = (*fabric)->SetHandler(1, [](Endpoint&, const Message&) {});
          const std::vector<std::byte> body(kMaxMessageBytes);
          if (job.self() == 0) {
            for (int i = 0; i < 30; ++i) endpoint.Send({1, 0}, 1, body);
          }
          EXPECT_TRUE(endpoint.WaitUntil([&] { return !job.alive(1) && endpoint.all_sent(); }, 5s));
        },
        60);
    EXPECT_EQ(end.codes, (std::vector<int>{0, 128 + SIGKILL})) << "run " << run << end.output;
  }
}

// A thread sleeps until an operation has ended, and then does other work for long. Meanwhile its
// mailbox answers in the background, so nobody takes the node for unreachable.
TEST(SimDatagrams, ABusyThreadIsNotTakenForUnreachable) {
  for (int run = 0; run < 20; ++run) {
    ExpectNodesRun(2, [](Job& job) {
      const auto fabric =
          *Fabric::Open(job, {.transport = "sim-datagrams", .network = "none", .endpoints = 1});
      bool received = false;
      const auto handler =
          fabric->SetHandler(1, [&](Endpoint&, const Message&) { received = true; });
      const SharedRegion region = *fabric->Share(64);
      ASSERT_TRUE(job.Exchange(""));
      Endpoint& endpoint = fabric->endpoint(0);
      if (job.self() == 0) {
        endpoint.FetchAdd(1, region.id, 0, 1, nullptr);
        EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
        ASSERT_TRUE(job.Exchange(""));
        SleepFor(30s);
        EXPECT_TRUE(endpoint.WaitUntil([&] { return received; }, 5s));
      } else {
        ASSERT_TRUE(job.Exchange(""));
        endpoint.Send({0, 0}, 1, {});
        endpoint.WaitUntil([] { return false; }, 32s);
      }
      ASSERT_TRUE(job.Exchange(""));
    });
  }
}

}  // namespace
}  // namespace slimgraph
#endif
