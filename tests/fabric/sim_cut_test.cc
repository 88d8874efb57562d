// A link between two nodes is cut for good, while both have a link to the hub: whoever sends
// messages over it must not wait forever.
#ifdef SLIMGRAPH_SIM
#include "slimgraph/base/sim/network.h"
#include "tests/fabric/conformance.h"
#include "tests/support/node_processes.h"

namespace slimgraph {
namespace {

using namespace std::chrono_literals;

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

}  // namespace
}  // namespace slimgraph
#endif
