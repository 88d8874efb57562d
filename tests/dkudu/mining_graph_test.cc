#include "dkudu/mining_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

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

// The lists of a graph by rank, as a serial program makes them.
std::vector<std::vector<VertexId>> ListsByRank(const EdgeList& edges) {
  std::vector<std::vector<VertexId>> lists(edges.vertices);
  for (const auto& [u, v] : edges.edges) {
    lists[u].push_back(v);
    lists[v].push_back(u);
  }
  std::vector<VertexId> dense(edges.vertices);
  std::iota(dense.begin(), dense.end(), 0);
  std::ranges::stable_sort(dense, {}, [&](VertexId v) { return lists[v].size(); });
  std::vector<VertexId> rank(edges.vertices);
  for (VertexId i = 0; i < dense.size(); ++i) rank[dense[i]] = i;
  std::vector<std::vector<VertexId>> by_rank(edges.vertices);
  for (VertexId v = 0; v < edges.vertices; ++v) {
    for (const VertexId w : lists[v]) by_rank[rank[v]].push_back(rank[w]);
    std::ranges::sort(by_rank[rank[v]]);
  }
  return by_rank;
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
  const std::vector<std::vector<VertexId>> expected = ListsByRank(edges);
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 2}, Shape{3, 1}}) {
    OnMiningJob(shape, file.path(), dkudu::ListPart::kAll, {}, [&](dkudu::MiningJob& job) {
      const dkudu::MiningGraph& graph = job.graph;
      std::vector<std::byte> coded(graph.coded().begin(), graph.coded().end());
      coded.resize(coded.size() + ListCode::kSlackBytes);
      for (VertexId v = 0; v < graph.vertices(); ++v) {
        ASSERT_EQ(graph.degree(v), expected[v].size()) << NameOf(shape);
        if (!graph.is_own(v)) continue;
        if (graph.computes()) {
          ASSERT_TRUE(std::ranges::equal(graph.own(v), expected[v])) << NameOf(shape);
        }
        if (graph.coded().empty()) continue;
        std::vector<VertexId> list(expected[v].size());
        ASSERT_TRUE(graph.code().Decode(coded.data() + graph.FindByte(v), list));
        ASSERT_EQ(list, expected[v]) << NameOf(shape);
      }
    });
  }
}

}  // namespace
}  // namespace slimgraph::test
