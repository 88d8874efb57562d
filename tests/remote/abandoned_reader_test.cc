// A reader that is destroyed, as after an error, while its fetches are in flight.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "slimgraph/files/csr.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/remote/list_reader.h"
#include "slimgraph/remote/list_server.h"
#include "tests/support/command.h"
#include "tests/support/node_processes.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

class AbandonedReader : public ::testing::TestWithParam<std::tuple<const char*, MemorySide>> {
 protected:
  void SetUp() override {
    EdgeList edges{.vertices = kVertices, .edges = {}, .weights = {}, .directed = true};
    std::mt19937_64 random(7);
    for (VertexId v = 0; v < kVertices; ++v) {
      for (int i = 0; i < 8; ++i) {
        edges.edges.push_back({v, static_cast<VertexId>(random() % kVertices)});
      }
    }
    ASSERT_TRUE(WriteSlimFile(edges, path_));
  }

  static constexpr VertexId kVertices = 20'000;
  ScratchDirectory scratch_;
  std::string path_ = scratch_.File("graph.slim");
};
INSTANTIATE_TEST_SUITE_P(All, AbandonedReader,
                         ::testing::Combine(::testing::Values("shm", "tcp"),
                                            ::testing::Values(MemorySide::kStrict,
                                                              MemorySide::kServe)));

// With requests, the answer arrives after the reader is destroyed. After two barriers it has
// arrived, because messages between two endpoints keep their order.
TEST_P(AbandonedReader, NothingIsWrittenIntoItsMemoryAfterwards) {
  const auto [transport, side] = GetParam();
  ExpectNodesRun(2, [&, transport = transport, side = side](Job& job) {
    const auto cluster = Unwrap(Cluster::Start(job, {.compute = 1, .transport = transport}));
    const SlimFile file = Unwrap(SlimFile::Open(path_));
    const ListCode code(kVertices);
    ListAnswers answers(cluster->fabric());
    ListServer server(cluster->fabric());
    const VertexPart mine = cluster->computes() ? VertexPart{} : VertexPart{0, 1, kVertices};
    const ServedLists served =
        Unwrap(LoadServedLists(*cluster, file, mine, Direction::kOut, false, 0, [](auto...) {}));
    server.Add(served, mine.count, code);
    Unwrap(cluster->all().Barrier());
    const auto meet_twice = [&]() -> Status {
      SLIM_TRY(cluster->all().Barrier());
      return cluster->all().Barrier();
    };
    if (cluster->computes()) {
      Endpoint& endpoint = cluster->fabric().endpoint(0);
      CacheBudget budget(0);
      const auto lists = Unwrap(
          DelegatedLists::Make(endpoint, {1, 0, kVertices, file.arcs(), served.regions, 0, code},
                               CacheLevel::kIndex, budget, false));
      std::vector<VertexId> wanted(kVertices);
      std::iota(wanted.begin(), wanted.end(), VertexId{0});
      {
        ListReader reader(endpoint, cluster->fabric(),
                          side == MemorySide::kServe ? &answers : nullptr, false);
        reader.StartFetch(*lists, wanted);
      }
      EXPECT_EQ(endpoint.outstanding(), 0U);
      Unwrap(meet_twice());
    } else {
      Unwrap(server.ServeWhile(meet_twice));
    }
    Unwrap(cluster->Stop());
  });
}

}  // namespace
}  // namespace slimgraph
