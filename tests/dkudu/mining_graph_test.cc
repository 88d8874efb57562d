#include "dkudu/graph/mining_graph.h"

#include <gtest/gtest.h>

#include "tests/dkudu/support.h"
#include "tests/support/node_processes.h"

namespace slimgraph::test {
namespace {

TEST(MiningGraph, IsRefusedWhereNodesSeeDifferentFiles) {
  const ScratchGraph one(CompleteGraph(5));
  const ScratchGraph other(CompleteGraph(6));
  ExpectNodesRun(3, [&](Job& job) {
    const auto cluster = Cluster::Start(job, {.compute = 2, .serving_threads = 1});
    ASSERT_TRUE(cluster);
    const auto file = SlimFile::Open((job.self() == 2 ? other : one).path());
    ASSERT_TRUE(file);
    const auto graph =
        MiningGraph::Load(**cluster, *file, ListPart::kAll, {}, [](const MemoryPlan&) {});
    ASSERT_FALSE(graph);
    EXPECT_NE(graph.error().message.find("nodes 0 and 2 do not see the same file"),
              std::string::npos)
        << graph.error().message;
  });
}

}  // namespace
}  // namespace slimgraph::test
