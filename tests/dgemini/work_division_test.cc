// All compute nodes have equally much to do, whatever the numbers of nodes are.
#include "dgemini/internal/work_division.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "tests/support/graphs.h"

namespace slimgraph::dgemini {
namespace {

struct Divided {
  std::vector<EdgeOffset> arcs;           // by compute node
  std::vector<std::set<NodeId>> workers;  // by home
};

// Lists of random lengths. Expects each vertex to be in one slot.
Divided Divide(NodeId nodes, NodeId compute, std::uint32_t sockets, Delegation delegation) {
  constexpr VertexId kVertices = 200'000;
  constexpr VertexId kStep = 64;
  auto random = test::SeededRandom();
  std::vector<EdgeOffset> offsets = {0};
  for (VertexId v = 0; v < kVertices; ++v) offsets.push_back(offsets.back() + random() % 40);
  std::vector<EdgeOffset> steps;
  for (VertexId v = 0; v < kVertices; v += kStep) steps.push_back(offsets[v]);
  steps.push_back(offsets.back());
  const Topology topology = *Topology::Make(nodes, compute);
  const std::uint32_t pieces = WorkDivision::Pieces(topology, delegation);
  const ChunkPartition partition(kVertices, steps, kStep, nodes, sockets * pieces, 0);
  const WorkDivision division(partition, topology, sockets, pieces);
  Divided divided{std::vector<EdgeOffset>(compute), std::vector<std::set<NodeId>>(nodes)};
  VertexId next = 0;
  for (const WorkSlot& slot : division.slots()) {
    EXPECT_EQ(slot.part.first, next);
    next = slot.part.first + slot.part.count;
    EXPECT_LT(slot.worker, compute);
    EXPECT_LT(slot.socket, sockets);
    if (slot.home < compute) {
      EXPECT_EQ(slot.worker, slot.home);
    }
    divided.arcs[slot.worker] += offsets[next] - offsets[slot.part.first];
    divided.workers[slot.home].insert(slot.worker);
  }
  EXPECT_EQ(next, kVertices);
  for (NodeId home = 0; home < nodes; ++home) {
    const std::size_t marks = division.marks_of(home);
    EXPECT_EQ(marks, divided.workers[home].size() == 1 ? 1 : division.count_of(home));
    for (std::size_t slot = division.begin_of(home); slot < division.end_of(home); ++slot) {
      EXPECT_EQ(division.slots()[slot].home, home);
    }
  }
  return divided;
}

double LargestOverMean(const std::vector<EdgeOffset>& arcs) {
  const auto sum = std::accumulate(arcs.begin(), arcs.end(), EdgeOffset{0});
  return static_cast<double>(std::ranges::max(arcs)) * static_cast<double>(arcs.size()) /
         static_cast<double>(sum);
}

TEST(WorkDivision, GivesAllComputeNodesEquallyMuch) {
  for (NodeId nodes = 1; nodes <= 17; ++nodes) {
    for (NodeId compute = 1; compute <= nodes; ++compute) {
      for (const std::uint32_t sockets : {1U, 2U}) {
        const Divided divided = Divide(nodes, compute, sockets, Delegation::kBlock);
        EXPECT_LE(LargestOverMean(divided.arcs), 1.05) << nodes << "," << compute;
      }
    }
  }
}

TEST(WorkDivision, FewComputeNodesWorkForAMemoryNode) {
  const Divided divided = Divide(8, 6, 1, Delegation::kBlock);
  EXPECT_EQ(divided.workers[6], (std::set<NodeId>{0, 1, 2}));
  EXPECT_EQ(divided.workers[7], (std::set<NodeId>{3, 4, 5}));
  // Complete rounds stay whole.
  EXPECT_EQ(Divide(5, 2, 1, Delegation::kBlock).workers[3], (std::set<NodeId>{1}));
}

TEST(WorkDivision, LeavesNodesWholeIfAsked) {
  const Divided divided = Divide(4, 3, 2, Delegation::kNode);
  EXPECT_EQ(divided.workers[3], (std::set<NodeId>{0}));
  EXPECT_GE(LargestOverMean(divided.arcs), 1.4);
}

}  // namespace
}  // namespace slimgraph::dgemini
