#include "dkudu/internal/kernel/offered_roots.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

class Adjacency {
 public:
  explicit Adjacency(const EdgeList& graph) : vertices_(graph.vertices) {
    bits_.resize(std::size_t{vertices_} * vertices_);
    for (const auto& [u, v] : graph.edges)
      bits_[u * vertices_ + v] = bits_[v * vertices_ + u] = true;
  }
  bool Has(VertexId u, VertexId v) const { return bits_[u * vertices_ + v]; }

  // The number of edges among those neighbours of a root that are not joined yet.
  std::uint64_t TrianglesLeft(const dkudu::MiningGraph& graph,
                              const dkudu::CliqueRoot& root) const {
    std::uint64_t count = 0;
    for (std::size_t j = root.joined; j < root.list.size(); ++j) {
      for (std::size_t i = root.joined; i < j; ++i) {
        count += Has(graph.dense(root.list[i]), graph.dense(root.list[j])) ? 1 : 0;
      }
    }
    return count;
  }

 private:
  std::size_t vertices_;
  std::vector<bool> bits_;
};

// This node's own roots, with a random number of neighbours already joined.
std::vector<dkudu::CliqueRoot> SomeRoots(const dkudu::MiningGraph& graph, std::mt19937_64& random) {
  std::vector<dkudu::CliqueRoot> roots;
  for (VertexId v = graph.self(); v < graph.vertices(); v += graph.nodes()) {
    const dkudu::List list = graph.upper(v, graph.own(v));
    roots.push_back({list, static_cast<std::uint32_t>(random() % (list.size() + 1)), {}});
  }
  return roots;
}

Status ExpectOfferedRootsCounted(dkudu::MiningJob& job, const Adjacency& adjacency,
                                 std::uint64_t most_bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed + job.cluster.self());
  const std::vector<dkudu::CliqueRoot> roots = SomeRoots(job.graph, random);
  dkudu::OfferedRoots offered(job.graph, job.lists.fetch(0), job.options.chunk_bytes);
  for (std::span<const dkudu::CliqueRoot> left(roots); !left.empty();) {
    std::vector<std::uint64_t> words;
    const std::size_t packed = dkudu::PackRoots(left, most_bytes, words);
    EXPECT_LE(words.size() * sizeof words[0], most_bytes);
    if (packed == 0) {
      EXPECT_GT(left[0].list.size() * sizeof(VertexId), most_bytes / 2);
      left = left.subspan(1);
      continue;
    }
    std::uint64_t expected = 0;
    for (const dkudu::CliqueRoot& root : left.first(packed)) {
      expected += adjacency.TrianglesLeft(job.graph, root);
    }
    dkudu::CliqueKernel kernel(job.cluster.job(), job.graph.vertices(), 3);
    SLIM_TRY(offered.Count(words, kernel));
    EXPECT_EQ(static_cast<std::uint64_t>(kernel.count()), expected);
    left = left.subspan(packed);
  }
  return {};
}

TEST(OfferedRoots, TheTakerCountsTheRemainingTriangles) {
  auto random = SeededRandom();
  const EdgeList graph = RandomGraph(random, 90, 0.4);
  const Adjacency adjacency(graph);
  const ScratchGraph file(graph);
  for (const Shape& shape : {Shape{2, 2}, Shape{4, 2}, Shape{3, 3, 1, "tcp"}}) {
    for (const dkudu::ListPart part : {dkudu::ListPart::kUpper, dkudu::ListPart::kAll}) {
      const std::uint64_t seed = random();
      OnMiningJob(shape, file.path(), part, {}, [&](dkudu::MiningJob& job) {
        static const Stage kStage("offered roots");
        const std::uint64_t least = dkudu::LeastKernelBytes(job.graph);
        for (const std::uint64_t chunk_bytes : {least, least + 500, std::uint64_t{1} << 20}) {
          job.options.chunk_bytes = chunk_bytes;
          for (const std::uint64_t most_bytes : {64, 1000, 100'000}) {
            const auto ran = dkudu::RunEngines(job, kStage, [&](std::uint32_t, Endpoint&) {
              return ExpectOfferedRootsCounted(job, adjacency, most_bytes, seed);
            });
            EXPECT_TRUE(ran) << ran.error().message;
          }
        }
      });
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
