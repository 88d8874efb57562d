#include "slimgraph/base/units.h"

#include <gtest/gtest.h>

namespace slimgraph {
namespace {

TEST(Units, BytesAreReadAsPeopleWriteThem) {
  EXPECT_EQ(*ParseBytes("4096"), 4096U);
  EXPECT_EQ(*ParseBytes("64K"), 64U << 10);
  EXPECT_EQ(*ParseBytes("64KiB"), 64U << 10);
  EXPECT_EQ(*ParseBytes("1.5G"), 3ULL << 29);
  EXPECT_EQ(*ParseBytes("2t"), 2ULL << 40);
  EXPECT_EQ(*ParseBytes("0"), 0U);
}

TEST(Units, InvalidSizesAreRefused) {
  for (const char* const text : {"", "K", "-1", "12X", "1KX", "1e30", "nan", "inf", "1 K"}) {
    EXPECT_FALSE(ParseBytes(text)) << text;
  }
  EXPECT_EQ(ParseBytes("12X").error().kind, ErrorKind::kUsage);
}

TEST(Units, TimesAreReadAsPeopleWriteThem) {
  EXPECT_EQ(*ParseSeconds("90"), 90);
  EXPECT_EQ(*ParseSeconds("90s"), 90);
  EXPECT_EQ(*ParseSeconds("1.5m"), 90);
  EXPECT_EQ(*ParseSeconds("2h"), 7200);
  EXPECT_DOUBLE_EQ(*ParseSeconds("100ms"), 0.1);
  EXPECT_DOUBLE_EQ(*ParseSeconds("50us"), 50e-6);
  for (const char* const text : {"", "m", "-1s", "10d", "10 m", "nan", "inf"}) {
    EXPECT_FALSE(ParseSeconds(text)) << text;
  }
}

TEST(Units, NumbersAreFormattedForPeople) {
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes((1ULL << 20) - 1), "1.0 MiB");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCounted(1, "node"), "1 node");
  EXPECT_EQ(FormatCounted(0, "node"), "0 nodes");
  EXPECT_EQ(FormatCounted(1200, "node"), "1,200 nodes");
  EXPECT_EQ(FormatSeconds(0.00123), "1.2 ms");
  EXPECT_EQ(FormatSeconds(600), "10.0 min");
}

}  // namespace
}  // namespace slimgraph
