// Which vertices of a compute node the other nodes have in their lists, on a graph of a pool: found
// by a summary of the lists (remote/neighbour_summary.h), it must be what the lists say.
#include <gtest/gtest.h>

#include <algorithm>

#include "dgemini/workload.h"
#include "slimgraph/files/csr.h"
#include "tests/support/graphs.h"
#include "tests/support/node_processes.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

struct StandingShape {
  NodeId compute;
  NodeId parts;
  MemorySide side;
  std::uint32_t threads;
};

// Vertices of one region mostly have neighbours there, so that few nodes have both.
EdgeList ClusteredGraph(std::mt19937_64& random, VertexId vertices, bool directed) {
  EdgeList graph;
  graph.vertices = vertices;
  graph.directed = directed;
  for (VertexId i = 0; i < 3 * vertices; ++i) {
    const auto u = static_cast<VertexId>(random() % vertices);
    const VertexId near = std::min(vertices - 1, u + static_cast<VertexId>(random() % 20));
    const bool far = random() % 10 == 0;
    graph.edges.push_back({u, far ? static_cast<VertexId>(random() % vertices) : near});
  }
  return graph;
}

// Compares needed_by() with the out lists: who has a vertex's out-neighbours pulls from it. A
// compute node asks for its own share only.
void ExpectNeeds(const dgemini::Workload& work, const Csr& lists, const StandingShape& shape,
                 const std::vector<NodeId>& part_of) {
  const Direction in = work.directed() ? Direction::kIn : Direction::kOut;
  const std::size_t readers =
      shape.side == MemorySide::kReduce ? shape.compute + shape.parts : shape.compute;
  std::size_t needed = 0;
  std::size_t not_needed = 0;
  for (const auto& segment : work.segments()) {
    for (std::size_t reader = 0; reader < readers; ++reader) {
      if (reader == work.self()) continue;
      const std::uint64_t* const bits = work.needed_by(reader, in, segment);
      for (VertexId v = segment.first; v < segment.end(); ++v) {
        const bool is_needed = std::ranges::any_of(lists.list(v), [&](VertexId u) {
          return reader < shape.compute ? work.worker(u) == reader
                                        : part_of[u] == reader - shape.compute;
        });
        (is_needed ? needed : not_needed) += 1;
        ASSERT_EQ(bits[v / 64 - segment.first_word()] >> (v % 64) & 1, is_needed ? 1U : 0U)
            << "vertex " << v << ", reader " << reader << " of (" << shape.compute << ","
            << shape.parts << ")";
      }
    }
  }
  EXPECT_GT(needed, 0U);
  EXPECT_GT(not_needed, 0U);
}

class StandingMarks : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Graphs, StandingMarks, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "directed" : "undirected"; });

TEST_P(StandingMarks, AreThoseOfTheLists) {
  auto random = SeededRandom();
  const ScratchFolder folder;
  const std::string path = folder / "g.slim";
  const EdgeList edges = ClusteredGraph(random, 9000, GetParam());
  Unwrap(WriteSlimFile(edges, path));
  const Csr lists = Unwrap(BuildCsr(edges));
  for (const StandingShape& shape :
       {StandingShape{2, 2, MemorySide::kStrict, 1}, StandingShape{3, 2, MemorySide::kStrict, 2},
        StandingShape{5, 1, MemorySide::kStrict, 1}, StandingShape{2, 3, MemorySide::kReduce, 1},
        StandingShape{8, 4, MemorySide::kStrict, 2}, StandingShape{7, 4, MemorySide::kReduce, 2}}) {
    ExpectNodesRun(shape.compute + shape.parts, [&](Job& job) {
      const NodeId part = job.self() < shape.compute ? 0 : job.self() - shape.compute;
      StandingPart made = Unwrap(LoadStandingPart(path, path, part, shape.parts, 1));
      if (job.self() < shape.compute) made.memories.clear();
      const auto graph = Unwrap(StandingGraph::Open(made.facts, std::move(made.memories)));
      const auto cluster = Unwrap(Cluster::Start(
          job, {.compute = shape.compute, .threads = shape.threads, .serving_threads = 1}));
      dgemini::WorkloadNeeds needs{.pull_in = true};
      needs.cache.side = shape.side;
      const auto work =
          Unwrap(dgemini::Workload::Load(*cluster, *graph, needs, [](MemoryPlan&) {}));
      std::vector<NodeId> part_of(edges.vertices);
      for (NodeId p = 0; p < shape.parts; ++p) {
        const VertexPart& vertices = graph->part(p);
        std::fill_n(part_of.begin() + vertices.first, vertices.count, p);
      }
      if (cluster->computes()) ExpectNeeds(*work, lists, shape, part_of);
      Unwrap(cluster->Stop());
    });
  }
}

}  // namespace
}  // namespace slimgraph::test
