#include "dkudu/mining_graph.h"

#include <gtest/gtest.h>

#include "tests/dkudu/support.h"
#include "tests/support/node_processes.h"

namespace slimgraph::test {
namespace {

TEST(MiningGraph, IsRefusedIfNodesSeeDifferentFiles) {
  const ScratchGraph one(CompleteGraph(5));
  const ScratchGraph other(CompleteGraph(6));
  ExpectNodesRun(3, [&](Job& job) {
    const auto cluster = Cluster::Start(job, {.compute = 2, .serving_threads = 1});
    ASSERT_TRUE(cluster);
    const auto file = SlimFile::Open((job.self() == 2 ? other : one).path());
    ASSERT_TRUE(file);
    const auto graph = dkudu::MiningGraph::Load(**cluster, *file, dkudu::ListPart::kAll, {},
                                                [](const MemoryPlan&) {});
    ASSERT_FALSE(graph);
    EXPECT_NE(graph.error().message.find("nodes 0 and 2 do not see the same file"),
              std::string::npos)
        << graph.error().message;
  });
}

// The graph has hubs, whose groups of lists have more arcs than fit into 16 bits.
TEST(MiningGraph, IndexTakesLessThanTwoAndAHalfBytesPerVertex) {
  auto random = SeededRandom();
  EdgeList edges = EmptyGraph(200'000);
  for (VertexId v = 0; v < edges.vertices; ++v) {
    edges.edges.push_back({v, static_cast<VertexId>(random() % edges.vertices)});
    edges.edges.push_back({v, static_cast<VertexId>(random() % 4)});
  }
  const ScratchGraph file(edges);
  for (const dkudu::ListPart part : {dkudu::ListPart::kUpper, dkudu::ListPart::kAll}) {
    OnMiningJob({2, 1, 1}, file.path(), part, {}, [&](dkudu::MiningJob& job) {
      std::uint64_t bytes = 0;
      EdgeOffset arcs = 0;
      for (NodeId home = 0; home < job.graph.nodes(); ++home) {
        bytes += job.graph.index(home).bytes();
        arcs += job.graph.index(home).arcs();
      }
      EXPECT_LT(static_cast<double>(bytes), 2.5 * edges.vertices);
      EXPECT_EQ(arcs, job.graph.sums().arcs / (part == dkudu::ListPart::kUpper ? 2 : 1));
    });
  }
}

}  // namespace
}  // namespace slimgraph::test
