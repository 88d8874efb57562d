#include "dkudu/internal/sharing/job_regions.h"

#include <gtest/gtest.h>

#include "dkudu/internal/root_sums.h"
#include "dkudu/local.h"
#include "dkudu/match.h"
#include "dkudu/motifs.h"
#include "dkudu/truss.h"
#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

TEST(JobRegions, AreZeroedWhenReused) {
  const ScratchGraph file(CompleteGraph(5));
  for (const char* const transport : {"shm", "tcp"}) {
    OnMiningJob({3, 2, 1, transport}, file.path(), dkudu::ListPart::kAll, {},
                [](dkudu::MiningJob& job) {
                  RegionId first = 0;
                  for (int round = 0; round < 3; ++round) {
                    const auto lease = job.regions.Take(job.cluster, 100 - round);
                    ASSERT_TRUE(lease) << lease.error().message;
                    const auto other = job.regions.Take(job.cluster, 8);
                    ASSERT_TRUE(other) << other.error().message;
                    EXPECT_NE(lease->id(), other->id());
                    if (round == 0) first = lease->id();
                    EXPECT_EQ(lease->id(), first);
                    EXPECT_EQ(lease->memory().empty(), !job.cluster.computes());
                    for (std::byte& one : lease->memory()) {
                      EXPECT_EQ(one, std::byte{0});
                      one = std::byte{7};
                    }
                    ASSERT_TRUE(job.cluster.all().Barrier());
                  }
                });
  }
}

TEST(JobRegions, AreOnAllNodesIfTheyAreToBeEverywhere) {
  const ScratchGraph file(CompleteGraph(5));
  OnMiningJob({3, 2, 1}, file.path(), dkudu::ListPart::kAll, {}, [](dkudu::MiningJob& job) {
    RegionId first = 0;
    for (int round = 0; round < 3; ++round) {
      const auto elsewhere = job.regions.Take(job.cluster, 8);
      ASSERT_TRUE(elsewhere) << elsewhere.error().message;
      const auto lease = job.regions.TakeEverywhere(job.cluster, 100 + job.cluster.self());
      ASSERT_TRUE(lease) << lease.error().message;
      if (round == 0) first = lease->id();
      EXPECT_EQ(lease->id(), first);
      ASSERT_GE(lease->memory().size(), 100 + job.cluster.self());
      for (std::byte& one : lease->memory()) {
        EXPECT_EQ(one, std::byte{0});
        one = std::byte{7};
      }
    }
  });
}

// Each count takes regions, and a fabric has only 1,024.
TEST(JobRegions, AreReusedByManyCounts) {
  const ScratchGraph file(CompleteGraph(6));
  OnMiningJob({2, 1, 2}, file.path(), dkudu::ListPart::kAll, {.chunk_bytes = 0},
              [](dkudu::MiningJob& job) {
                const dkudu::Plan plan =
                    dkudu::CompilePlan(*dkudu::Pattern::Find("diamond"), dkudu::Induced::kEdge,
                                       dkudu::FiguresOf(job.graph), false);
                for (int i = 0; i < 1100; ++i) {
                  const auto count = dkudu::CountMatches(job, plan);
                  ASSERT_TRUE(count) << count.error().message;
                  ASSERT_EQ(*count, 90U);
                }
              });
}

TEST(UpperPart, IsRefusedByFunctionsThatNeedCompleteLists) {
  const ScratchGraph file(CompleteGraph(6));
  OnMiningJob({2, 1, 1}, file.path(), dkudu::ListPart::kUpper, {}, [](dkudu::MiningJob& job) {
    const dkudu::Plan plan =
        dkudu::CompilePlan(*dkudu::Pattern::Find("diamond"), dkudu::Induced::kEdge,
                           dkudu::FiguresOf(job.graph), false);
    const auto refuses = [](const auto& result, const std::string& what) {
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().message, "counting " + what +
                                            " needs complete lists, but the graph was loaded "
                                            "with ListPart::kUpper");
    };
    refuses(dkudu::CountMatches(job, plan), "embeddings");
    refuses(dkudu::CountHouses(job), "houses");
    refuses(dkudu::SumOverEdges(job), "triangles and 4-cycles at edges");
    refuses(dkudu::CountMotifs(job, 4, dkudu::Induced::kEdge), "triangles and 4-cycles at edges");
    refuses(dkudu::CountLocal(job), "triangles at vertices");
    refuses(dkudu::ComputeTrussness(job), "trusses");
  });
}

}  // namespace
}  // namespace slimgraph::test
