#include "slimgraph/remote/compact_offsets.h"

#include <gtest/gtest.h>

#include <random>

#include "slimgraph/remote/cache_options.h"

namespace slimgraph {
namespace {

TEST(CompactOffsets, FindEveryListWhereItIs) {
  std::mt19937_64 random(7);
  for (const VertexId count : {0U, 1U, 63U, 64U, 65U, 1000U}) {
    const ListCode code(1 << 20);
    CompactOffsets offsets(code);
    std::vector<EdgeOffset> lengths;
    for (VertexId v = 0; v < count; ++v) {
      const unsigned kind = static_cast<unsigned>(random() % 8);
      lengths.push_back(kind == 0   ? random() % 100'000
                        : kind == 1 ? 253 + random() % 4
                                    : random() % 40);
      offsets.Append(lengths.back());
    }
    offsets.Finish();
    EdgeOffset begin = 0;
    std::uint64_t first_byte = 0;
    for (VertexId v = 0; v < count; ++v) {
      EXPECT_EQ(offsets.length(v), lengths[v]);
      EXPECT_EQ(offsets.FindArcs(v).begin, begin);
      EXPECT_EQ(offsets.FindArcs(v).length, lengths[v]);
      const VertexId group = v / CompactOffsets::kGroup;
      offsets.VisitGroup(group, v, v + 1, [&](VertexId one, const CompactOffsets::Place& place) {
        EXPECT_EQ(one, v);
        EXPECT_EQ(place.begin, begin);
        EXPECT_EQ(place.length, lengths[v]);
        EXPECT_EQ(place.first_byte, first_byte);
      });
      begin += lengths[v];
      first_byte += code.Bytes(lengths[v]);
    }
    EXPECT_EQ(offsets.group_begin(offsets.groups()), begin);
  }
}

TEST(CompactOffsets, TakeLessThanTwoAndAHalfBytesAVertex) {
  CompactOffsets offsets(ListCode(1 << 20));
  const VertexId count = 1 << 16;
  offsets.Reserve(count);
  for (VertexId v = 0; v < count; ++v) offsets.Append(v % 10 == 0 ? 1000 : 20);
  offsets.Finish();
  EXPECT_LT(static_cast<double>(offsets.bytes()), 2.5 * count);
  EXPECT_LE(offsets.bytes(), CompactOffsets::Bytes(count, (count + 9) / 10));
}

TEST(EdgeBudget, IsASizeOrAPercentage) {
  EXPECT_EQ(ParseEdgeBudget("5%")->Of(1000), 50);
  EXPECT_EQ(ParseEdgeBudget("12.5%")->Of(1000), 125);
  EXPECT_EQ(ParseEdgeBudget("2K")->Of(1000), 2048);
  for (const char* wrong : {"", "%", "-1%", "101%", "5%x", "many"}) {
    EXPECT_FALSE(ParseEdgeBudget(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace slimgraph
