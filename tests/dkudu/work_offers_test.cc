#include "dkudu/internal/sharing/work_offers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "dkudu/internal/root_sums.h"
#include "dkudu/match.h"
#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

constexpr std::uint64_t kParts = 300;

// The words of part `label`.
std::vector<std::uint64_t> PartOf(std::uint64_t label) {
  std::vector<std::uint64_t> words(1 + label % 8);
  std::iota(words.begin(), words.end(), label);
  return words;
}

// One engine has all the work, and waits until others have taken most of it. The other engines of
// its node begin after other nodes, if there are any, have taken a part: there are then more parts
// than slots. Returns how often this node's engines have done each part.
std::vector<std::uint64_t> ShareOut(dkudu::MiningJob& job, dkudu::WorkOffers& offers) {
  std::vector<std::vector<std::uint64_t>> done(job.cluster.threads(),
                                               std::vector<std::uint64_t>(kParts));
  const NodeId compute = job.cluster.topology().compute();
  std::atomic<std::uint64_t> offered = 0;
  const auto engine = [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
    const bool is_here = job.cluster.self() + 1 == compute;
    const bool has_work = is_here && thread == 0;
    while (is_here && !has_work && compute > 1 && offered <= dkudu::WorkOffers::kSlots) {
      endpoint.WaitUntil([] { return false; }, std::chrono::milliseconds(1));
    }
    for (std::uint64_t label = 0; has_work && label < kParts; offered = ++label) {
      const auto part = PartOf(label);
      while (!offers.wants_offers() ||
             !offers.Offer(endpoint, label, std::as_bytes(std::span(part)))) {
        endpoint.WaitUntil([] { return false; }, std::chrono::milliseconds(1));
      }
    }
    std::vector<std::uint64_t> words;
    while (true) {
      SLIM_ASSIGN(const auto label, offers.Take(endpoint, words));
      if (!label) return {};
      EXPECT_EQ(words, PartOf(*label));
      ++done[thread][*label];
    }
  };
  static const Stage kStage("offers");
  const Status ran = dkudu::RunEngines(job, kStage, engine);
  EXPECT_TRUE(ran) << ran.error().message;
  std::vector<std::uint64_t> all(kParts);
  for (const auto& of_thread : done) {
    for (std::size_t i = 0; i < kParts; ++i) all[i] += of_thread[i];
  }
  return all;
}

TEST(WorkOffers, EveryPartIsDoneOnceAndSomeAreStolen) {
  const ScratchGraph file(CompleteGraph(9));
  for (const Shape& shape : {Shape{2, 1, 2}, Shape{4, 4, 1}, Shape{3, 2, 2, "tcp"}}) {
    OnMiningJob(shape, file.path(), dkudu::ListPart::kAll, {}, [&](dkudu::MiningJob& job) {
      auto offers = dkudu::MakeOffers(job, 8 * sizeof(std::uint64_t));
      ASSERT_TRUE(offers);
      std::vector<std::uint64_t> done(kParts);
      if (job.cluster.computes()) done = ShareOut(job, **offers);
      ASSERT_TRUE(job.cluster.all().AllReduce(std::span(done), std::plus<>()));
      EXPECT_EQ(done, std::vector<std::uint64_t>(kParts, 1)) << NameOf(shape);
      std::uint64_t stolen = (*offers)->stolen();
      ASSERT_TRUE(job.cluster.all().AllReduce(std::span(&stolen, 1), std::plus<>()));
      EXPECT_EQ(stolen > 0, shape.compute > 1) << NameOf(shape);
    });
  }
}

// Node 1 waits until node 0 offers it a part; after that nobody waits.
TEST(WorkOffers, NoEngineIsIdleOnceEachHasAPart) {
  const ScratchGraph file(CompleteGraph(9));
  for (const char* const transport : {"shm", "tcp"}) {
    OnMiningJob({2, 2, 1, transport}, file.path(), dkudu::ListPart::kAll, {},
                [&](dkudu::MiningJob& job) {
                  auto offers = dkudu::MakeOffers(job, sizeof(std::uint64_t));
                  ASSERT_TRUE(offers);
                  static const Stage kStage("idle");
                  const auto engine = [&](std::uint32_t, Endpoint& endpoint) -> Status {
                    std::vector<std::uint64_t> words = {17};
                    if (job.cluster.self() == 0) {
                      EXPECT_FALSE((*offers)->has_idle_engine());
                      SLIM_TRY(job.cluster.all().Barrier());
                      while (!(*offers)->wants_offers()) {
                        endpoint.WaitUntil([] { return false; }, std::chrono::milliseconds(1));
                      }
                      EXPECT_TRUE((*offers)->Offer(endpoint, 5, std::as_bytes(std::span(words))));
                    } else {
                      SLIM_TRY(job.cluster.all().Barrier());
                      SLIM_ASSIGN(const auto label, (*offers)->Take(endpoint, words));
                      EXPECT_EQ(label, 5U);
                    }
                    SLIM_TRY(job.cluster.all().Barrier());
                    EXPECT_FALSE((*offers)->has_idle_engine()) << job.cluster.self();
                    SLIM_TRY(job.cluster.all().Barrier());
                    SLIM_ASSIGN(const auto end, (*offers)->Take(endpoint, words));
                    EXPECT_FALSE(end);
                    return {};
                  };
                  const Status ran = dkudu::RunEngines(job, kStage, engine);
                  EXPECT_TRUE(ran) << ran.error().message;
                });
  }
}

TEST(WorkOffers, AFailedEngineKeepsNoOtherWaiting) {
  const ScratchGraph file(CompleteGraph(9));
  OnMiningJob({2, 1, 2}, file.path(), dkudu::ListPart::kAll, {}, [&](dkudu::MiningJob& job) {
    auto offers = dkudu::MakeOffers(job, sizeof(std::uint64_t));
    ASSERT_TRUE(offers);
    static const Stage kStage("failing");
    const Status ran =
        dkudu::RunEngines(job, kStage, [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
          if (thread == 1) {
            (*offers)->GiveUp();
            return UsageError("as it was meant to");
          }
          std::vector<std::uint64_t> words;
          SLIM_ASSIGN(const auto label, (*offers)->Take(endpoint, words));
          EXPECT_FALSE(label);
          return {};
        });
    EXPECT_EQ(!ran, job.cluster.computes());
  });
}

// All embeddings start at few roots. Engines without such a root take work from later levels.
TEST(WorkOffers, OtherEnginesFinishOfferedEmbeddings) {
  auto random = SeededRandom();
  EdgeList graph = EmptyGraph(600);
  for (VertexId v = 1; v < 60; ++v) {
    for (VertexId u = 0; u < v; ++u) {
      if (random() % 2 == 0) graph.edges.push_back({u, v});
    }
  }
  const ScratchGraph file(graph);
  for (const Shape& shape :
       {Shape{4, 4, 1}, Shape{4, 2, 2}, Shape{4, 1, 2}, Shape{3, 3, 1, "tcp"}}) {
    for (const std::uint64_t chunk_bytes : {0, 64 << 20}) {
      dkudu::MiningOptions options{.chunk_bytes = chunk_bytes};
      OnMiningJob(shape, file.path(), dkudu::ListPart::kAll, options, [&](dkudu::MiningJob& job) {
        const auto by_formula = dkudu::CountHouses(job);
        ASSERT_TRUE(by_formula) << by_formula.error().message;
        const dkudu::Pattern house = *dkudu::Pattern::Find("house");
        const dkudu::Plan plan =
            dkudu::CompilePlan(house, dkudu::Induced::kEdge, dkudu::FiguresOf(job.graph), true);
        const auto count = dkudu::CountMatches(job, plan);
        ASSERT_TRUE(count) << count.error().message;
        EXPECT_EQ(*count, *by_formula) << NameOf(shape);
      });
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
