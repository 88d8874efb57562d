#include "dkudu/truss.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "dkudu/serial.h"
#include "tests/dkudu/heap.h"
#include "tests/dkudu/support.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

using EdgeEnds = std::pair<VertexId, VertexId>;
using TrussOf = std::map<EdgeEnds, std::uint32_t>;

// By the definition: for each k, removes edges with fewer than k - 2 triangles until none is left.
TrussOf ExpectedTrussness(const EdgeList& graph) {
  std::vector<std::set<VertexId>> around(graph.vertices);
  std::set<EdgeEnds> left;
  for (const auto& [a, b] : graph.edges) {
    if (a == b) continue;
    around[a].insert(b);
    around[b].insert(a);
    left.insert({std::min(a, b), std::max(a, b)});
  }
  TrussOf trussness;
  for (std::uint32_t k = 3; !left.empty(); ++k) {
    for (const EdgeEnds& edge : left) trussness[edge] = k - 1;
    for (bool removed = true; removed;) {
      removed = false;
      for (auto at = left.begin(); at != left.end();) {
        const auto [a, b] = *at;
        std::uint32_t triangles = 0;
        for (const VertexId w : around[a]) triangles += around[b].contains(w) ? 1 : 0;
        if (triangles >= k - 2) {
          ++at;
          continue;
        }
        around[a].erase(b);
        around[b].erase(a);
        at = left.erase(at);
        removed = true;
      }
    }
  }
  return trussness;
}

constexpr Shape kTrussShapes[] = {{1, 1, 1}, {1, 1, 2}, {2, 1, 1},
                                  {4, 4, 1}, {4, 1, 2}, {3, 2, 2, "tcp"},
                                  {5, 3, 1}, {6, 4, 2}, {5, 2, 1, "tcp", true}};

void ExpectTrussness(const Shape& shape, const EdgeList& graph,
                     const dkudu::MiningOptions& options) {
  const ScratchGraph file(graph);
  const TrussOf expected = ExpectedTrussness(graph);
  std::vector<std::uint64_t> edges_of(1);
  for (const auto& [edge, k] : expected) {
    if (k >= edges_of.size()) edges_of.resize(k + 1);
    ++edges_of[k];
  }
  const auto serial = dkudu::serial::Trussness(Unwrap(BuildCsr(graph)));
  for (const auto& [edge, k] : expected) {
    EXPECT_EQ(serial.Find(edge.first, edge.second), k);
    EXPECT_EQ(serial.Find(edge.second, edge.first), k);
  }
  OnMiningJob(shape, file.path(), dkudu::ListPart::kAll, options, [&](dkudu::MiningJob& job) {
    for (int round = 0; round < 2; ++round) {  // the values of the first are used again
      const auto found = Unwrap(dkudu::ComputeTrussness(job));
      EXPECT_EQ(found.edges_of(), edges_of) << NameOf(shape);
      if (job.cluster.self() != 0) continue;
      std::vector<EdgeEnds> edges;
      const auto visit = [&](VertexId a, VertexId b, std::uint32_t k) -> Status {
        edges.push_back({a, b});
        const auto right = expected.find({a, b});
        EXPECT_NE(right, expected.end()) << a << ' ' << b << " is no edge";
        if (right == expected.end()) return {};
        EXPECT_EQ(k, right->second) << NameOf(shape) << ": edge " << a << ' ' << b;
        return {};
      };
      ASSERT_TRUE(found.ForEach(job, OriginalIds(0, graph.vertices), visit));
      EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end()));
      EXPECT_EQ(edges.size(), expected.size());
    }
  });
}

dkudu::MiningOptions RandomTrussOptions(std::mt19937_64& random) {
  return {.chunk_bytes = SomeChunkBytes(random),
          .cache_bytes = random() % 4096,
          .reuse = static_cast<dkudu::Reuse>(random() % 3),
          .steal = static_cast<dkudu::Steal>(random() % 2),
          .fetch = static_cast<dkudu::Fetch>(random() % 2)};
}

TEST(Truss, FindsTheTrussnessOfEveryEdge) {
  auto random = SeededRandom();
  for (const Shape& shape : kTrussShapes) {
    for (const double density : {0.1, 0.3}) {
      const auto vertices = static_cast<VertexId>(20 + random() % 60);
      ExpectTrussness(shape, RandomGraph(random, vertices, density), RandomTrussOptions(random));
    }
  }
}

// Trusses of different sizes that overlap, so that bounds take many rounds to fall.
TEST(Truss, SeparatesOverlappingCliques) {
  auto random = SeededRandom();
  for (const Shape& shape : kTrussShapes) {
    EdgeList graph = EmptyGraph(90);
    for (VertexId first = 0; first + 20 < graph.vertices; first += 3) {
      const auto size = static_cast<VertexId>(3 + random() % 17);
      for (VertexId a = first; a < first + size; ++a) {
        for (VertexId b = a + 1; b < first + size; ++b) {
          if (random() % 8 != 0) graph.edges.push_back({a, b});
        }
      }
    }
    ExpectTrussness(shape, graph, RandomTrussOptions(random));
  }
}

TEST(Truss, IsNumberedByTheLargestCliqueOfACompleteGraph) {
  ExpectTrussness({3, 2, 1}, CompleteGraph(7), {});
  ExpectTrussness({2, 1, 1}, CompleteGraph(2), {});
}

TEST(Truss, HasNoEdgesInAGraphWithoutEdges) {
  const ScratchGraph file(EmptyGraph(5));
  OnMiningJob({3, 2, 1}, file.path(), dkudu::ListPart::kAll, {}, [](dkudu::MiningJob& job) {
    const auto found = Unwrap(dkudu::ComputeTrussness(job));
    EXPECT_EQ(found.largest(), 0U);
    EXPECT_EQ(found.EdgesOfTruss(0), 0U);
  });
}

// Bookkeeping of jobs, which does not depend on the graph.
constexpr std::uint64_t kHeapSlackBytes = 64 << 10;

TEST(Truss, StaysWithinItsAnnouncedMemory) {
  auto random = SeededRandom();
  const EdgeList graph = RandomGraph(random, 6000, 0.01);
  const ScratchGraph file(graph);
  const auto serial = dkudu::serial::Trussness(Unwrap(BuildCsr(graph)));
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{2, 1, 1}, Shape{2, 2, 1}, Shape{2, 1, 1, "shm", true}}) {
    for (const std::uint64_t chunk_bytes : {std::uint64_t{0}, std::uint64_t{8} << 20}) {
      const dkudu::MiningOptions options{.chunk_bytes = chunk_bytes, .cache_bytes = 1 << 20};
      OnMiningJob(shape, file.path(), dkudu::ListPart::kAll, options, [&](dkudu::MiningJob& job) {
        const std::uint64_t told =
            dkudu::WorkingMemoryOf(job.graph, options, job.cluster, dkudu::TrussBytes).own_bytes;
        const std::uint64_t before = HeapBytes();
        TakeHeapPeak();
        const auto found = Unwrap(dkudu::ComputeTrussness(job));
        const std::uint64_t taken = TakeHeapPeak() - before;
        if (job.cluster.computes()) {
          EXPECT_LE(taken, told + kHeapSlackBytes) << NameOf(shape);
          EXPECT_GE(4 * taken, told) << NameOf(shape);
        }
        if (job.cluster.self() != 0) return;
        const auto visit = [&](VertexId a, VertexId b, std::uint32_t k) -> Status {
          EXPECT_EQ(k, serial.Find(a, b));
          return {};
        };
        ASSERT_TRUE(found.ForEach(job, OriginalIds(0, graph.vertices), visit));
      });
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
