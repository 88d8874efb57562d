// Directed graphs as the undirected graphs of their sides.
#include "txnlayer/graph_model/sides.h"

#include <cstdio>

#include "tests/support/unwrap.h"
#include "tests/txnlayer/graph_support.h"

namespace slimgraph::test {
namespace {

constexpr txn::GraphShape kDirected{.directed = true, .weights = WeightType::kInt32};

TEST(Sides, AreTwoPerVertexAndEachNodeHasAsManyOfEitherKind) {
  constexpr txn::VertexName kSample = 100'000;
  for (const NodeId nodes : {2, 3, 4, 8}) {
    std::vector<std::uint64_t> out(nodes);
    for (txn::VertexName v = 0; v < kSample; ++v) {
      const auto from = txn::SideOf(kDirected, v, Direction::kOut);
      const auto to = txn::SideOf(kDirected, v, Direction::kIn);
      ASSERT_EQ(from ^ to, 1u);
      for (const auto side : {from, to}) ASSERT_EQ(txn::VertexOfSide(kDirected, side), v);
      ASSERT_EQ(txn::DirectionOf(kDirected, from), Direction::kOut);
      ASSERT_EQ(txn::DirectionOf(kDirected, to), Direction::kIn);
      ++out[from % nodes];
    }
    const auto share = static_cast<double>(kSample / nodes);
    for (const std::uint64_t one : out) EXPECT_NEAR(static_cast<double>(one), share, 0.05 * share);
  }
}

// An edge from u to v is the undirected edge of their sides, whatever pieces the file is read in.
TEST(Sides, OfAFileMatchItsEdges) {
  std::mt19937_64 random(TestSeed());
  const std::string path = WriteRandomGraph(300, 900, random(), kDirected);
  const SlimFile file = Unwrap(SlimFile::Open(path));
  const txn::SidesSource sides = Unwrap(txn::SidesSource::Of(file));
  const OriginalIds names = Unwrap(sides.ReadOriginalIds());
  ASSERT_EQ(names.count(), 600u);
  std::vector<std::map<VertexId, double>> expected(600);
  const Csr lists = Unwrap(ReadCsr(file));
  for (VertexId u = 0; u < 300; ++u) {
    for (std::size_t i = 0; i < lists.degree(u); ++i) {
      const VertexId v = lists.list(u)[i];
      const auto from = static_cast<VertexId>(txn::SideOf(kDirected, u, Direction::kOut));
      const auto to = static_cast<VertexId>(txn::SideOf(kDirected, v, Direction::kIn));
      expected[from][to] = expected[to][from] = lists.list_weights(u)[i];
    }
  }
  std::vector<VertexId> all;
  std::vector<double> weights;
  std::vector<EdgeOffset> offsets = {0};
  for (const auto& list : expected) {
    for (const auto& [neighbour, weight] : list) {
      all.push_back(neighbour);
      weights.push_back(weight);
    }
    offsets.push_back(all.size());
  }
  const Csr found = Unwrap(ReadCsr(sides));
  EXPECT_EQ(found.offsets, offsets);
  EXPECT_EQ(found.neighbours, all);
  EXPECT_EQ(found.weights, weights);
  for (int i = 0; i < 200; ++i) {
    const EdgeOffset first = random() % all.size();
    std::vector<VertexId> piece(random() % std::min<std::size_t>(50, all.size() - first));
    Unwrap(sides.ReadElements(SectionKind::kOutNeighbours, first, std::span(piece)));
    EXPECT_TRUE(
        std::equal(piece.begin(), piece.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace slimgraph::test
