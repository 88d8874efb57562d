#include "dkudu/mining_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

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

// One node alone reads offsets in two pieces, and every node reads lists in several steps. Each
// list must be where its home has it, decoded and coded.
TEST(MiningGraph, ListsAreMadeInSeveralStepsAndReachTheirHomes) {
  auto random = SeededRandom();
  const auto gap = [&] { return static_cast<VertexId>(random() % 40); };
  EdgeList edges = EmptyGraph(dkudu::kPieceVertices + 5000);
  const VertexId first = edges.vertices - 10'000;
  for (VertexId u = first; u < edges.vertices; ++u) {
    for (VertexId v = u + 1 + gap(); v < edges.vertices; v += 1 + gap()) {
      edges.edges.push_back({u, v});
    }
  }
  ASSERT_GT(edges.edges.size(), 2 * dkudu::FileLists::kStepArcs);
  const ScratchGraph file(edges);
  const ScratchGraph coded(edges, ScratchGraph::kCoded);
  const std::vector<std::vector<VertexId>> expected = ListsByRank(edges);
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 2}, Shape{3, 1}}) {
    for (const std::string& path : {file.path(), coded.path()}) {
      OnMiningJob(shape, path, dkudu::ListPart::kAll, {},
                  [&](dkudu::MiningJob& job) { ExpectLists(job.graph, expected, NameOf(shape)); });
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
