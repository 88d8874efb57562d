// The memory that a mining run announces is an upper bound, and not far above what the run takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "dkudu/cliques.h"
#include "tests/dkudu/heap.h"
#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

// The lists need several windows, so many roots wait with a matrix each.
EdgeList LongLists(std::mt19937_64& random) {
  EdgeList graph = EmptyGraph(7000);
  for (VertexId v = 0; v < graph.vertices; ++v) {
    for (VertexId u = 0; u < v; ++u) {
      if (random() % 20 == 0) graph.edges.push_back({u, v});
    }
  }
  return graph;
}

// Counts 4-cliques with rows of bits for the neighbours of higher id.
std::uint64_t CliquesOfFour(const EdgeList& graph) {
  const std::size_t words = graph.vertices / 64 + 1;
  std::vector<std::uint64_t> rows(graph.vertices * words);
  for (const auto& [u, v] : graph.edges) {
    rows[std::min(u, v) * words + std::max(u, v) / 64] |= std::uint64_t{1} << std::max(u, v) % 64;
  }
  std::uint64_t count = 0;
  std::vector<std::uint64_t> common(words);
  for (const auto& [u, v] : graph.edges) {
    for (std::size_t i = 0; i < words; ++i) common[i] = rows[u * words + i] & rows[v * words + i];
    for (std::size_t i = 0; i < words; ++i) {
      for (std::uint64_t left = common[i]; left != 0; left &= left - 1) {
        const std::size_t w = i * 64 + static_cast<std::size_t>(std::countr_zero(left));
        for (std::size_t j = w / 64; j < words; ++j) {
          count += static_cast<std::uint64_t>(std::popcount(common[j] & rows[w * words + j]));
        }
      }
    }
  }
  return count;
}

// Memory for bookkeeping, which does not depend on the options.
constexpr std::uint64_t kSlackBytes = 1 << 20;

TEST(MiningMemory, CliquesStayWithinTheirAnnouncedMemory) {
  auto random = SeededRandom();
  const EdgeList graph = LongLists(random);
  const ScratchGraph file(graph);
  const std::uint64_t expected = CliquesOfFour(graph);
  const dkudu::MiningOptions options{.chunk_bytes = 16 << 20, .cache_bytes = 4 << 20};
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{2, 1, 1}, Shape{2, 2, 1}, Shape{2, 1, 1, "shm", true}}) {
    for (const dkudu::ListPart part : {dkudu::ListPart::kUpper, dkudu::ListPart::kAll}) {
      OnMiningJob(shape, file.path(), part, options, [&](dkudu::MiningJob& job) {
        const auto of_engine = [](const dkudu::MiningGraph& loaded,
                                  const dkudu::MiningOptions& mining) {
          return dkudu::CliqueBytes(loaded, mining, 4);
        };
        const std::uint64_t told =
            dkudu::WorkingMemoryOf(job.graph, options, job.cluster, of_engine).own_bytes;
        const std::uint64_t before = HeapBytes();
        TakeHeapPeak();
        const auto count = dkudu::CountCliques(job, 4);
        const std::uint64_t taken = TakeHeapPeak() - before;
        ASSERT_TRUE(count) << count.error().message;
        EXPECT_EQ(*count, expected) << NameOf(shape);
        if (!job.cluster.computes()) return;
        EXPECT_LE(taken, told + kSlackBytes) << NameOf(shape);
        EXPECT_GE(taken, options.chunk_bytes / 2) << "the graph is too small for this test";
      });
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
