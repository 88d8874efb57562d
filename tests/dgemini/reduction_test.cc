#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <type_traits>

#include "dgemini/internal/reduced_block.h"
#include "dgemini/internal/reductions.h"
#include "dgemini/programs.h"
#include "dgemini/serial.h"
#include "slimgraph/files/generate.h"
#include "slimgraph/files/slim_file.h"
#include "tests/support/node_processes.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

using dgemini::ReducedBlock;

std::uint64_t SeedOfReductions() {
  const char* const said = std::getenv("SLIMGRAPH_TEST_SEED");
  return said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
}

// Blocks of all densities, of some of their vertices, whose results fit into a float or not.
template <typename R>
void ExpectBlocksComeBack(std::mt19937_64& random) {
  using Result = typename R::Result;
  for (int round = 0; round < 300; ++round) {
    std::map<VertexId, Result> expected;
    std::vector<std::byte> bytes(12);  // the head of a message
    for (std::size_t blocks = random() % 4; blocks > 0; --blocks) {
      const VertexId first = static_cast<VertexId>(random() % 3'000'000) * 1024;
      if (expected.contains(first)) continue;
      ReducedBlock<R> block(first / 64);
      const std::uint64_t one_of = 1 + random() % (random() % 2 == 0 ? 4 : 900);
      const bool exact = random() % 2 == 0;
      for (VertexId v = first; v < first + 1024; ++v) {
        if (v != first && random() % one_of != 0) continue;
        Result result{};
        if constexpr (!std::is_empty_v<Result>) {
          result = static_cast<Result>(random() % 1000) + (exact ? 0 : 0.1);
        }
        block.Add(v, result);
        expected[v] = result;
      }
      block.AppendTo(bytes);
    }
    std::map<VertexId, Result> found;
    ReducedBlock<R>::Visit(bytes, 12, [&](VertexId v, const Result& result) {
      EXPECT_TRUE(found.emplace(v, result).second) << v << " has two results";
    });
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [v, result] : expected) {
      ASSERT_TRUE(found.contains(v)) << v;
      if constexpr (!std::is_empty_v<Result>) {
        ASSERT_EQ(found[v], result) << v;
      }
    }
  }
}

TEST(ReducedBlocks, ComeBackAsTheyWere) {
  const std::uint64_t seed = SeedOfReductions();
  SCOPED_TRACE("SLIMGRAPH_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  ExpectBlocksComeBack<dgemini::AnyActive>(random);
  ExpectBlocksComeBack<dgemini::SumOfAll<double>>(random);
  ExpectBlocksComeBack<dgemini::SumOfActive<double, false, float>>(random);
}

TEST(ReducedBlocks, OfNoResultTakeNoBytes) {
  std::vector<std::byte> bytes;
  ReducedBlock<dgemini::SumOfAll<double>>(16).AppendTo(bytes);
  EXPECT_TRUE(bytes.empty());
}

class Reductions : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "slimgraph-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    MakeGraph(12, 64);
  }
  void MakeGraph(unsigned scale, unsigned degree) {
    GenerateOptions options;
    options.out = path_ = folder_ + "/kron.slim";
    options.scale = scale;
    options.degree = degree;
    Unwrap(Generate(options));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Runs PageRank at (4,2) and calls check(engine, ranks) on compute nodes. Returns all nodes'
  // bytes.
  template <typename Check>
  std::uint64_t RunPageRank(const CacheOptions& cache, const Check& check) const {
    return Run(cache, 2, dgemini::Mode::kPull, [&](dgemini::Engine& engine) {
      check(engine, Unwrap(dgemini::PageRank(engine, {})).rank);
    });
  }

  // Calls program(engine) on the compute nodes of four nodes. Returns all nodes' bytes.
  template <typename Program>
  std::uint64_t Run(const CacheOptions& cache, NodeId compute, dgemini::Mode mode,
                    const Program& program) const {
    const std::string bytes_file = folder_ + "/bytes";
    ExpectNodesRun(4, [&](Job& job) {
      auto cluster = Unwrap(Cluster::Start(job, {.compute = compute}));
      {
        dgemini::Exchange exchange(*cluster);
        const SlimFile file = Unwrap(SlimFile::Open(path_));
        const auto work = Unwrap(dgemini::Workload::Load(
            *cluster, file, {.pull_in = true, .cache = cache}, [](const MemoryPlan&) {}));
        cluster->fabric().ClearTraffic();
        if (cluster->computes()) {
          dgemini::Engine engine(*cluster, *work, exchange, mode);
          program(engine);
        }
        Unwrap(work->ServeWhile([&] { return cluster->all().Barrier(); }));
        const std::uint64_t mine = cluster->fabric().traffic().Total().bytes();
        const std::uint64_t all = Unwrap(cluster->all().AllSum(mine));
        if (cluster->self() == 0) {
          std::ofstream(bytes_file) << all;
        }
      }
      Unwrap(cluster->Stop());
    });
    std::uint64_t bytes = 0;
    std::ifstream(bytes_file) >> bytes;
    return bytes;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(Reductions, SendFewerBytesThanReadsOfAllLists) {
  CacheOptions cache;
  cache.level = CacheLevel::kIndex;
  const std::uint64_t reads = RunPageRank(cache, [](const dgemini::Engine& engine, const auto&) {
    EXPECT_EQ(engine.counts().reduced, 0);
  });
  cache.side = MemorySide::kReduce;
  const std::uint64_t reduced = RunPageRank(cache, [](const dgemini::Engine& engine, const auto&) {
    EXPECT_EQ(engine.counts().reduced, 20);
    EXPECT_EQ(engine.counts().pulls, 20);
  });
  EXPECT_GT(reduced, 0);
  EXPECT_LT(reduced, reads);
}

// Reading the lists once takes as much as a few reductions, and later steps find them in the cache.
TEST_F(Reductions, GiveWayToACacheThatHoldsAllLists) {
  CacheOptions cache;
  cache.side = MemorySide::kAuto;
  const std::uint64_t cached = RunPageRank(cache, [](const dgemini::Engine& engine, const auto&) {
    EXPECT_GT(engine.counts().reduced, 0);
    EXPECT_LT(engine.counts().reduced, 10);
  });
  cache.edges.percent = 0;
  const std::uint64_t uncached = RunPageRank(cache, [](const dgemini::Engine& engine, const auto&) {
    EXPECT_EQ(engine.counts().reduced, 20);
  });
  EXPECT_LT(cached, uncached);
}

// The last steps that pull want few lists, which are not next to each other: most bytes of reading
// them are those of the operations.
TEST_F(Reductions, AreChosenWhereReadsAreManyAndShort) {
  MakeGraph(15, 8);
  const auto bytes_with = [&](MemorySide side) {
    CacheOptions cache;
    cache.side = side;
    return Run(cache, 1, dgemini::Mode::kAuto, [](dgemini::Engine& engine) {
      for (const VertexId source : {1, 2, 7}) Unwrap(dgemini::Bfs(engine, source));
    });
  };
  const std::uint64_t chosen = bytes_with(MemorySide::kAuto);
  EXPECT_LT(chosen, bytes_with(MemorySide::kStrict));
  EXPECT_LE(chosen, bytes_with(MemorySide::kReduce));
}

// After the first step, memory nodes have used more than their share of time.
TEST_F(Reductions, StopWhenMemoryNodesHaveUsedTheirTime) {
  const auto expected =
      dgemini::serial::PageRank(Unwrap(ReadCsr(Unwrap(SlimFile::Open(path_)))), {}).rank;
  CacheOptions cache;
  cache.side = MemorySide::kReduce;
  cache.memory_cpu_percent = 1e-9;
  RunPageRank(cache, [&](const dgemini::Engine& engine, const auto& ranks) {
    EXPECT_EQ(engine.counts().reduced, 1);
    EXPECT_EQ(engine.counts().pulls, 20);
    for (VertexId v = 0; v < engine.vertices(); ++v) {
      if (!engine.mine(v)) continue;
      ASSERT_NEAR(ranks[v], expected[v], 1e-12 * expected[v]) << v;
    }
  });
}

}  // namespace
}  // namespace slimgraph::test
