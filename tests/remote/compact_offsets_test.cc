#include "slimgraph/remote/compact_offsets.h"

#include <gtest/gtest.h>

#include <random>

#include "slimgraph/remote/cache_options.h"

namespace slimgraph {
namespace {

TEST(CompactOffsets, FindEveryList) {
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
      EXPECT_EQ(offsets.FindByte(v), first_byte);
      if (lengths[v] > 0) {
        EXPECT_EQ(offsets.ListOf(begin), v);
        EXPECT_EQ(offsets.ListOf(begin + lengths[v] - 1), v);
      }
      const VertexId group = v / CompactOffsets::kGroup;
      offsets.VisitGroup(group, v, v + 1,
                         [&](VertexId one, const CompactOffsets::ListLocation& location) {
                           EXPECT_EQ(one, v);
                           EXPECT_EQ(location.begin, begin);
                           EXPECT_EQ(location.length, lengths[v]);
                           EXPECT_EQ(location.first_byte, first_byte);
                         });
      begin += lengths[v];
      first_byte += code.Bytes(lengths[v]);
    }
    EXPECT_EQ(offsets.count(), count);
    EXPECT_EQ(offsets.groups(), (count + CompactOffsets::kGroup - 1) / CompactOffsets::kGroup);
    EXPECT_EQ(offsets.group_begin(offsets.groups()), begin);
    EXPECT_EQ(offsets.begin(count), begin);
    EXPECT_EQ(offsets.arcs(), begin);
    EXPECT_EQ(offsets.FindByte(count), first_byte);
    EXPECT_EQ(offsets.coded_bytes(), first_byte);
    EXPECT_LE(offsets.bytes(), CompactOffsets::Bytes(count, begin));
  }
}

TEST(CompactOffsets, TakeLessThanTwoAndAHalfBytesAVertex) {
  CompactOffsets offsets(ListCode(1 << 20));
  const VertexId count = 1 << 16;
  offsets.Reserve(count);
  for (VertexId v = 0; v < count; ++v) offsets.Append(v % 10 == 0 ? 1000 : 20);
  offsets.Finish();
  EXPECT_LT(static_cast<double>(offsets.bytes()), 2.5 * count);
  EXPECT_LE(offsets.bytes(), CompactOffsets::Bytes(count, offsets.arcs()));
}

// One list reaches the largest 16-bit offset, or exceeds it. Other lists are before and after it in
// its group, and in the groups around it.
TEST(CompactOffsets, GroupsOfManyArcsAreWide) {
  for (const EdgeOffset length : {65534U, 65535U, 65536U, 5'000'000U}) {
    for (const VertexId at : {64U, 100U, 126U, 127U}) {
      CompactOffsets offsets(ListCode(1 << 24));
      for (VertexId v = 0; v < 192; ++v) offsets.Append(v == at ? length : 1);
      offsets.Finish();
      for (VertexId v = 0; v < 192; ++v) {
        EXPECT_EQ(offsets.begin(v), v <= at ? v : v - 1 + length) << length << " at " << at;
        EXPECT_EQ(offsets.length(v), v == at ? length : 1) << length << " at " << at;
      }
      EXPECT_LE(offsets.bytes(), CompactOffsets::Bytes(192, offsets.arcs()));
    }
  }
}

TEST(EdgeBudget, IsASizeOrAPercentage) {
  EXPECT_EQ(ParseEdgeBudget("5%")->Of(1000), 50);
  EXPECT_EQ(ParseEdgeBudget("12.5%")->Of(1000), 125);
  EXPECT_EQ(ParseEdgeBudget("2K")->Of(1000), 2048);
  EdgeBudget automatic = *ParseEdgeBudget("auto");
  EXPECT_TRUE(automatic.automatic);
  EXPECT_EQ(automatic.Of(1000), 1000);
  automatic.most_bytes = 300;
  EXPECT_EQ(automatic.Of(1000), 300);
  EXPECT_EQ(automatic.Of(200), 200);
  for (const char* wrong : {"", "%", "-1%", "101%", "5%x", "many"}) {
    EXPECT_FALSE(ParseEdgeBudget(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace slimgraph
