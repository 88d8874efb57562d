// Numbers that are stopped again and again, and continued by the same nodes. tests/apps has jobs
// whose compute nodes change.
#include "dkudu/continuation.h"

#include <gtest/gtest.h>

#include "dkudu/cliques.h"
#include "dkudu/internal/root_sums.h"
#include "dkudu/match.h"
#include "dkudu/motifs.h"
#include "tests/dkudu/support.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

using Numbers = std::vector<std::uint64_t>;
using Counting = std::function<Result<Numbers>(dkudu::MiningJob&)>;

// The count is stopped whenever node 0 has asked so often. Returns how often it was.
int ExpectSame(dkudu::MiningJob& job, const Counting& count, int every, const std::string& what) {
  const Numbers expected = Unwrap(count(job));
  const NodeId compute = job.cluster.topology().compute();
  int asked = 0;
  Handover handover;
  if (job.cluster.self() == 0) {
    handover =
        Handover([&](std::uint64_t) { return ++asked % every == 0 ? compute + 1 : compute; });
  }
  for (int stops = 0;; ++stops) {
    const auto continuation = Unwrap(dkudu::Continuation::Resume(job.cluster, handover));
    job.continuation = continuation.get();
    const auto counted = count(job);
    job.continuation = nullptr;
    if (continuation->has_left()) continue;
    EXPECT_EQ(Unwrap(counted), expected) << what;
    return stops;
  }
}

Numbers NumbersOf(const std::vector<dkudu::MotifCount>& motifs) {
  Numbers counts;
  for (const dkudu::MotifCount& motif : motifs) counts.push_back(motif.count);
  return counts;
}

const Counting kMotifs = [](dkudu::MiningJob& job) -> Result<Numbers> {
  return dkudu::CountMotifs(job, 4, dkudu::Induced::kVertex).map(NumbersOf);
};
const Counting kHouses = [](dkudu::MiningJob& job) -> Result<Numbers> {
  return dkudu::CountHouses(job).map([](std::uint64_t houses) { return Numbers{houses}; });
};

Counting CliquesOf(unsigned size) {
  return [size](dkudu::MiningJob& job) -> Result<Numbers> {
    return dkudu::CountCliques(job, size).map([](std::uint64_t count) { return Numbers{count}; });
  };
}

Counting MatchesOf(const char* name) {
  return [name](dkudu::MiningJob& job) -> Result<Numbers> {
    const auto plan = dkudu::CompilePlan(*dkudu::Pattern::Find(name), dkudu::Induced::kEdge,
                                         dkudu::FiguresOf(job.graph), /*list_all=*/false);
    return dkudu::CountMatches(job, plan).map([](std::uint64_t count) { return Numbers{count}; });
  };
}

void ExpectSameOnAllShapes(const EdgeList& graph, dkudu::ListPart part,
                           const std::vector<Counting>& counts) {
  const ScratchGraph file(graph);
  for (const Shape& shape : {Shape{1, 1, 2}, Shape{4, 2, 2}, Shape{3, 3, 1},
                             Shape{5, 2, 1, "tcp", true}, Shape{4, 1, 1, "shm", true}}) {
    for (const std::uint64_t bytes : {0, 64 << 20}) {
      const dkudu::MiningOptions options{.chunk_bytes = bytes, .cache_bytes = bytes};
      OnMiningJob(shape, file.path(), part, options, [&](dkudu::MiningJob& job) {
        int stops = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
          stops += ExpectSame(job, counts[i], 2 + static_cast<int>(i),
                              fmt::format("{}, {} bytes, count {}", NameOf(shape), bytes, i));
        }
        if (shape.threads == 1) {
          EXPECT_GE(stops, 1) << NameOf(shape);
        }
      });
    }
  }
}

TEST(Continuations, OfCliquesAreExact) {
  auto random = SeededRandom();
  ExpectSameOnAllShapes(RandomGraph(random, 700, 0.08), dkudu::ListPart::kUpper,
                        {CliquesOf(3), CliquesOf(4), CliquesOf(5)});
}

TEST(Continuations, OfOtherPatternsAreExact) {
  auto random = SeededRandom();
  ExpectSameOnAllShapes(RandomGraph(random, 120, 0.2), dkudu::ListPart::kAll,
                        {kMotifs, kHouses, MatchesOf("4-cycle"), MatchesOf("tailed-triangle")});
}

}  // namespace
}  // namespace slimgraph::test
