// Every vertex has one owner, parts are balanced, and each node loads exactly its part.
#include "slimgraph/graph/partition.h"
#include "slimgraph/files/slim_file.h"

#include "slimgraph/files/csr.h"
#include "slimgraph/files/generate.h"
#include "slimgraph/graph/load.h"
#include "slimgraph/graph/memory_plan.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

// part() and location() must agree, and every vertex must be in exactly one part.
template <typename Partition>
void ExpectEveryVertexHasOneOwner(const Partition& partition, VertexId vertices) {
  std::vector<int> owners(vertices);
  for (NodeId node = 0; node < partition.nodes(); ++node) {
    VertexId in_sockets = 0;
    for (std::uint32_t socket = 0; socket < partition.sockets(); ++socket) {
      const VertexPart part = partition.part(node, socket);
      in_sockets += part.count;
      for (VertexId local = 0; local < part.count; ++local) {
        const VertexId v = part[local];
        ASSERT_LT(v, vertices);
        ++owners[v];
        ASSERT_EQ(partition.location(v), (VertexLocation{node, socket, local}));
        ASSERT_EQ(partition.owner(v), node);
        ASSERT_TRUE(partition.part(node).contains(v));
      }
    }
    ASSERT_EQ(partition.part(node).count, in_sockets);
  }
  for (VertexId v = 0; v < vertices; ++v) ASSERT_EQ(owners[v], 1) << v;
}

std::vector<EdgeOffset> RandomOffsets(std::mt19937_64& random, VertexId vertices) {
  std::vector<EdgeOffset> offsets = {0};
  for (VertexId v = 0; v < vertices; ++v) {
    const std::uint64_t degree = random() % 100 == 0 ? random() % 5000 : random() % 10;
    offsets.push_back(offsets.back() + degree);
  }
  return offsets;
}

TEST(ChunkPartition, EveryVertexHasOneOwnerAndSharesAreBalanced) {
  auto random = SeededRandom();
  for (NodeId nodes = 1; nodes <= 64; ++nodes) {
    const std::uint32_t sockets = static_cast<std::uint32_t>(random() % 3 + 1);
    const VertexId vertices = static_cast<VertexId>(random() % 3000);
    const auto offsets = RandomOffsets(random, vertices);
    const double alpha = static_cast<double>(random() % 20);
    const ChunkPartition partition(vertices, offsets, 1, nodes, sockets, alpha);
    ExpectEveryVertexHasOneOwner(partition, vertices);

    double heaviest = 0;
    for (VertexId v = 0; v < vertices; ++v) {
      heaviest = std::max(heaviest, static_cast<double>(offsets[v + 1] - offsets[v]) + alpha);
    }
    const double fair =
        (static_cast<double>(offsets.back()) + alpha * vertices) / (nodes * sockets);
    for (NodeId node = 0; node < nodes; ++node) {
      for (std::uint32_t socket = 0; socket < sockets; ++socket) {
        const VertexPart part = partition.part(node, socket);
        const double cost =
            static_cast<double>(offsets[part.first + part.count] - offsets[part.first]) +
            alpha * part.count;
        ASSERT_LE(cost, fair + heaviest + 1e-6);
      }
    }
  }
}

TEST(ChunkPartition, CutsOfALargeGraphShareNoWordOfABitmap) {
  const ScratchFolder folder;
  GenerateOptions options;
  options.scale = 16;
  options.out = folder / "g.slim";
  ASSERT_OK(Generate(options));
  const auto file = SlimFile::Open(options.out);
  ASSERT_OK(file);
  const auto partition = ChunkPartition::Balance(*file, Direction::kOut, 4, 2, 8);
  ASSERT_OK(partition);
  ExpectEveryVertexHasOneOwner(*partition, file->vertices());
  for (NodeId node = 0; node < 4; ++node) {
    EXPECT_EQ(partition->part(node).first % 64, 0u);
    EXPECT_EQ(partition->part(node, 1).first % 64, 0u);
  }
  const auto sizes = PartSizes(*file, *partition, {});
  ASSERT_OK(sizes);
  for (const PartSize& size : *sizes) {
    const double cost = static_cast<double>(size.out_arcs) + 8.0 * size.vertices;
    EXPECT_NEAR(cost, (static_cast<double>(file->arcs()) + 8.0 * file->vertices()) / 4, 12000);
  }
}

TEST(HashPartition, EveryVertexHasOneOwner) {
  auto random = SeededRandom();
  for (NodeId nodes = 1; nodes <= 64; ++nodes) {
    const std::uint32_t sockets = static_cast<std::uint32_t>(random() % 3 + 1);
    const VertexId vertices = static_cast<VertexId>(random() % 1000);
    ExpectEveryVertexHasOneOwner(HashPartition(vertices, nodes, sockets), vertices);
  }
}

// Loads every part and compares it with the whole graph.
template <typename Partition>
void ExpectPartsMakeTheWhole(const SlimFile& file, const Partition& partition,
                             Direction direction) {
  const auto whole = ReadCsr(file, direction);
  ASSERT_OK(whole);
  GraphNeeds needs;
  needs.in_lists = true;
  needs.weights = true;
  const auto sizes = PartSizes(file, partition, needs);
  ASSERT_OK(sizes);
  const MemoryPlan plan = PlanMemory(file, *sizes, needs);
  for (NodeId node = 0; node < partition.nodes(); ++node) {
    const VertexPart part = partition.part(node);
    const auto arcs = CountArcs(file, part, direction);
    ASSERT_OK(arcs);
    const bool in = direction == Direction::kIn && file.directed();
    EXPECT_EQ(*arcs, in ? (*sizes)[node].in_arcs : (*sizes)[node].out_arcs);
    std::vector<EdgeOffset> offsets(std::size_t{part.count} + 1);
    std::vector<VertexId> neighbours(*arcs);
    std::vector<std::int32_t> weights(file.weight_type() == WeightType::kInt32 ? *arcs : 0);
    const ListSpans into = {offsets, neighbours, std::as_writable_bytes(std::span(weights))};
    ASSERT_OK(LoadLists(file, part, direction, into));
    for (VertexId local = 0; local < part.count; ++local) {
      const auto expected = whole->list(part[local]);
      ASSERT_EQ(offsets[local + 1] - offsets[local], expected.size());
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(),
                             neighbours.begin() + static_cast<std::ptrdiff_t>(offsets[local])));
      for (std::size_t i = 0; i < expected.size() && !weights.empty(); ++i) {
        ASSERT_EQ(weights[offsets[local] + i], whole->list_weights(part[local])[i]);
      }
    }
    const std::uint64_t lists_bytes =
        offsets.size() * 8 + neighbours.size() * 4 + weights.size() * 4;
    if (!file.directed()) {
      EXPECT_EQ(plan.node_bytes[node], lists_bytes);
    }
  }
}

TEST(LoadLists, ThePartsOfAllNodesMakeTheGraph) {
  const ScratchFolder folder;
  for (const bool directed : {false, true}) {
    GenerateOptions options;
    options.scale = 15;
    options.directed = directed;
    options.weights = WeightSpan{1, 255};
    options.out = folder / "g.slim";
    ASSERT_OK(Generate(options));
    const auto file = SlimFile::Open(options.out);
    ASSERT_OK(file);
    for (const NodeId nodes : {1u, 2u, 3u, 8u}) {
      for (const Direction direction : {Direction::kOut, Direction::kIn}) {
        const auto chunks = ChunkPartition::Balance(*file, direction, nodes, 1, 8);
        ASSERT_OK(chunks);
        ExpectPartsMakeTheWhole(*file, *chunks, direction);
        ExpectPartsMakeTheWhole(*file, HashPartition(file->vertices(), nodes, 1), direction);
      }
    }
  }
}

TEST(LoadLists, GraphsSmallerThanTheJobHaveEmptyParts) {
  const ScratchFolder folder;
  ASSERT_OK(WriteSlimFile({3, {{0, 1}, {1, 2}}, {}, false}, folder / "g.slim"));
  ASSERT_OK(WriteSlimFile({0, {}, {}, false}, folder / "none.slim"));
  for (const char* name : {"g.slim", "none.slim"}) {
    const auto file = SlimFile::Open(folder / name);
    ASSERT_OK(file);
    const auto chunks = ChunkPartition::Balance(*file, Direction::kOut, 8, 2, 8);
    ASSERT_OK(chunks);
    ExpectEveryVertexHasOneOwner(*chunks, file->vertices());
    ExpectPartsMakeTheWhole(*file, *chunks, Direction::kOut);
    ExpectPartsMakeTheWhole(*file, HashPartition(file->vertices(), 8, 2), Direction::kOut);
  }
}

// If mapped pages were included, one node would seem to take more than all nodes together.
TEST(MemoryPlan, ReportsMappedMemorySeparately) {
  MemoryPlan plan{.node_bytes = {5 << 20, 1 << 20, 1 << 20, 1 << 20}};
  plan.mapped_bytes = {3 << 20, 0, 0, 0};
  EXPECT_EQ(Describe(plan),
            "the graph takes 2.0 MiB on the largest of 4 nodes, 5.0 MiB in all; a node also maps "
            "up to 3.0 MiB of other nodes' memory");
}

TEST(MemoryPlan, AJobThatDoesNotFitIsAnErrorWithBothNumbers) {
  EXPECT_OK(CheckFits({{1 << 20, 1 << 20}}, {0, 1}));
  EXPECT_EQ(Describe({{1 << 20, 2 << 20}}),
            "the graph takes 2.0 MiB on the largest of 2 nodes, 3.0 MiB in all");
  const Status refused = CheckFits({{std::uint64_t{1} << 50, 1}}, {0});
  EXPECT_TRUE(MessageOf(refused).starts_with(
      "the graph needs 1024.0 TiB for 1 node(s) on this machine, which has "))
      << MessageOf(refused);
}

TEST(MemoryPlan, AJobTakesNoMoreOfALenderThanItsQuota) {
  const MemoryPlan plan{.node_bytes = {4 << 20, 3 << 20, 2 << 20}, .mapped_bytes = {0, 0, 1 << 20}};
  const Quota quota{.first_lender = 1, .memory_bytes = 2 << 20};
  EXPECT_OK(CheckFits(plan, {0, 2}, quota));
  EXPECT_EQ(MessageOf(CheckFits(plan, {0, 1, 2}, quota)),
            "the graph needs 3.0 MiB on node 0 of the pool, and may take 2.0 MiB there (pool start "
            "--job-memory)");
}

}  // namespace
}  // namespace slimgraph::test
