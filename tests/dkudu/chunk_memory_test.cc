// --chunk-memory is an upper bound for any graph, and counts do not depend on it.
#include <gtest/gtest.h>

#include <optional>

#include "dkudu/cliques.h"
#include "dkudu/internal/root_sums.h"
#include "dkudu/match.h"
#include "tests/dkudu/heap.h"
#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

// Some hubs that are neighbours of many other vertices and of each other.
EdgeList Hubs(std::mt19937_64& random) {
  EdgeList graph = EmptyGraph(20'000);
  for (VertexId hub = 0; hub < 10; ++hub) {
    for (VertexId v = hub + 1; v < graph.vertices; ++v) {
      if (v < 10 || random() % 3 == 0) graph.edges.push_back({hub, v});
    }
  }
  return graph;
}

// A thread's memory outside the chunk memory: arrays by vertex, and tasks.
std::uint64_t OtherBytes(const EdgeList& graph) { return graph.vertices * 16 + (64 << 10); }

using Count = std::function<Result<std::uint64_t>(dkudu::MiningJob&)>;

void ExpectKept(const std::string& path,
                const std::function<std::uint64_t(dkudu::MiningJob&)>& least_of, const Count& count,
                std::uint64_t other_bytes) {
  OnMiningJob({2, 1, 1}, path, dkudu::ListPart::kAll, {.cache_bytes = 0},
              [&](dkudu::MiningJob& job) {
                const std::uint64_t least = least_of(job);
                job.options.chunk_bytes = least - 1;
                EXPECT_FALSE(count(job));
                std::optional<std::uint64_t> first;
                for (const std::uint64_t extra : {0, 300 << 10, 8 << 20}) {
                  job.options.chunk_bytes = least + extra;
                  const std::uint64_t before = HeapBytes();
                  TakeHeapPeak();
                  const auto counted = count(job);
                  const std::uint64_t peak = TakeHeapPeak() - before;
                  ASSERT_TRUE(counted) << counted.error().message;
                  EXPECT_LE(peak, job.options.chunk_bytes + other_bytes) << extra;
                  if (!first) first = *counted;
                  EXPECT_EQ(*counted, *first) << extra;
                }
              });
}

TEST(ChunkMemory, PlansStayWithinIt) {
  auto random = SeededRandom();
  const EdgeList graph = Hubs(random);
  const ScratchGraph file(graph);
  for (const char* const name : {"diamond", "4-clique", "tailed-triangle", "4-star"}) {
    const auto plan_of = [&](dkudu::MiningJob& job) {
      return dkudu::CompilePlan(*dkudu::Pattern::Find(name), dkudu::Induced::kEdge,
                                dkudu::FiguresOf(job.graph), false);
    };
    ExpectKept(
        file.path(),
        [&](dkudu::MiningJob& job) { return dkudu::LeastExtenderBytes(job.graph, plan_of(job)); },
        [&](dkudu::MiningJob& job) { return dkudu::CountMatches(job, plan_of(job)); },
        OtherBytes(graph));
  }
}

TEST(ChunkMemory, KernelsStayWithinIt) {
  auto random = SeededRandom();
  const EdgeList graph = Hubs(random);
  const ScratchGraph file(graph);
  const auto least = [](dkudu::MiningJob& job) { return dkudu::LeastKernelBytes(job.graph); };
  ExpectKept(file.path(), least, dkudu::CountHouses, OtherBytes(graph));
  const auto cycles = [](dkudu::MiningJob& job) -> Result<std::uint64_t> {
    SLIM_ASSIGN(const dkudu::EdgeSums sums, dkudu::SumOverEdges(job));
    return static_cast<std::uint64_t>(sums.cycles);
  };
  ExpectKept(file.path(), least, cycles, OtherBytes(graph));
}

TEST(ChunkMemory, TooLittleIsRefusedAndTheErrorNamesTheLeast) {
  auto random = SeededRandom();
  const ScratchGraph file(Hubs(random));
  OnMiningJob({1, 1, 1}, file.path(), dkudu::ListPart::kUpper, {.chunk_bytes = 1},
              [&](dkudu::MiningJob& job) {
                const auto count = dkudu::CountCliques(job, 4);
                ASSERT_FALSE(count);
                EXPECT_EQ(
                    count.error().message,
                    "--chunk-memory 1 B is too little for the longest lists: give at least 1K");
              });
}

}  // namespace
}  // namespace slimgraph::test
