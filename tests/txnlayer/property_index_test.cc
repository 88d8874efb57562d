// How values of indexed properties become keys, and how indexes are described.
#include "txnlayer/graph_model/property_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/support/seed.h"

namespace slimgraph::test {
namespace {

using txn::FieldType;
using txn::FieldValue;
using txn::PropertyIndex;

const std::vector<std::pair<FieldType, std::size_t>> kTypes = {
    {FieldType::kU8, 1},  {FieldType::kU16, 2}, {FieldType::kU32, 4}, {FieldType::kU64, 8},
    {FieldType::kI8, 1},  {FieldType::kI16, 2}, {FieldType::kI32, 4}, {FieldType::kI64, 8},
    {FieldType::kF32, 4}, {FieldType::kF64, 8}};

// Bytes of numbers of all sizes, and of special ones.
std::vector<std::byte> RandomField(std::mt19937_64& random, std::size_t bytes) {
  std::vector<std::byte> field(bytes);
  const std::uint64_t word = random() % 8 == 0   ? 0
                             : random() % 8 == 0 ? ~std::uint64_t{0}
                                                 : random() >> random() % 64;
  std::memcpy(field.data(), &word, bytes);
  if (random() % 4 == 0) field.back() |= std::byte{0x80};
  return field;
}

TEST(PropertyIndexes, CodesRiseWithValues) {
  std::mt19937_64 random(TestSeed());
  for (const auto& [type, bytes] : kTypes) {
    const PropertyIndex index{"x", 0, type};
    std::vector<std::pair<FieldValue, txn::ValueCode>> coded;
    for (int i = 0; i < 20'000; ++i) {
      const auto field = RandomField(random, bytes);
      const FieldValue value = txn::ValueOf(index, field);
      const txn::ValueCode code = txn::CodeOf(index, field);
      ASSERT_LT(code, 1U << 24);
      if (std::isnan(value)) continue;
      coded.emplace_back(value, code);
      EXPECT_TRUE(txn::ValuesOf(type, code).Contains(value)) << index.ToText() << " " << value;
    }
    std::sort(coded.begin(), coded.end());
    EXPECT_TRUE(std::is_sorted(coded.begin(), coded.end(), [](const auto& a, const auto& b) {
      return a.second < b.second;
    })) << index.ToText();
  }
}

// A value is in a range only if its code is among those of the range. And if all values of a code
// are in the range, then so is this one.
TEST(PropertyIndexes, CodesOfARangeHaveAllItsValues) {
  std::mt19937_64 random(TestSeed());
  for (const auto& [type, bytes] : kTypes) {
    const PropertyIndex index{"x", 0, type};
    std::size_t inside = 0;
    for (int i = 0; i < 50'000; ++i) {
      const auto field = RandomField(random, bytes);
      const FieldValue value = txn::ValueOf(index, field);
      const auto bound = [&] {
        const std::size_t of = random() % 2 == 0 ? bytes : 8;
        const auto of_type = of == bytes ? type : FieldType::kF64;
        return txn::ValueOf({"x", 0, of_type}, RandomField(random, of));
      };
      txn::ValueRange range{bound(), bound()};
      if (random() % 4 == 0) range.first = value;
      if (random() % 4 == 0) range.last = value;
      const auto codes = txn::CodesOf(type, range);
      const txn::ValueCode code = txn::CodeOf(index, field);
      const bool among = codes && codes->first <= code && code <= codes->second;
      if (range.Contains(value)) {
        ++inside;
        EXPECT_TRUE(among) << index.ToText() << " " << value;
      }
      const txn::ValueRange all = txn::ValuesOf(type, code);
      if (among && code != codes->first && code != codes->second) {
        EXPECT_TRUE(range.Contains(value)) << index.ToText() << " " << value;
      }
      if (range.Contains(all.first) && range.Contains(all.last)) {
        EXPECT_TRUE(range.Contains(value)) << index.ToText() << " " << value;
      }
    }
    EXPECT_GT(inside, 1000u);
  }
}

TEST(PropertyIndexes, SmallNumbersHaveCodesOfTheirOwn) {
  for (std::int32_t value = -262'144; value < 262'144; ++value) {
    const PropertyIndex index{"x", 0, FieldType::kI32};
    const txn::ValueRange values =
        txn::ValuesOf(index.type, txn::CodeOf(index, std::as_bytes(std::span(&value, 1))));
    ASSERT_EQ(values.first, value);
    ASSERT_EQ(values.last, value);
  }
}

TEST(PropertyIndexes, NoRangeHasWhatIsNoNumber) {
  const PropertyIndex index{"x", 0, FieldType::kF32};
  const float none = std::numeric_limits<float>::quiet_NaN();
  const Bytes bytes = std::as_bytes(std::span(&none, 1));
  constexpr FieldValue kInfinity = std::numeric_limits<FieldValue>::infinity();
  EXPECT_FALSE((txn::ValueRange{-kInfinity, kInfinity}).Contains(txn::ValueOf(index, bytes)));
  EXPECT_FALSE(txn::CodesOf(FieldType::kF32, {none, 1}));
  EXPECT_FALSE(txn::CodesOf(FieldType::kU8, {256, 300}));
  EXPECT_FALSE(txn::CodesOf(FieldType::kU8, {0.25L, 0.75L}));
  EXPECT_FALSE(txn::CodesOf(FieldType::kI64, {2, 1}));
  EXPECT_TRUE(txn::CodesOf(FieldType::kU8, {-5, 1000}));
}

TEST(PropertyIndexes, AreDescribedInWords) {
  for (const char* const text : {"age=0:u32", "x=255:i8", "Long_Name_9=17:f64"}) {
    const auto index = PropertyIndex::Parse(text);
    ASSERT_TRUE(index) << text;
    EXPECT_EQ(index->ToText(), text);
  }
  for (const char* const text : {"", "age", "age=0", "age:u32", "age=:u32", "age=0:", "age=-1:u32",
                                 "age=0x:u32", "age=0:u31", "age=99999999999:u8", "age:0=u32"}) {
    EXPECT_FALSE(PropertyIndex::Parse(text)) << text;
  }
  const auto is_valid = [](const PropertyIndex& index) {
    return txn::CheckIndexes(std::span(&index, 1), 8).has_value();
  };
  EXPECT_TRUE(is_valid({"a", 0, FieldType::kU64}));
  EXPECT_FALSE(is_valid({"a", 1, FieldType::kU64}));
  EXPECT_FALSE(is_valid({"a", ~0U, FieldType::kU8}));
  EXPECT_FALSE(is_valid({"", 0, FieldType::kU8}));
  EXPECT_FALSE(is_valid({"a b", 0, FieldType::kU8}));
  EXPECT_FALSE(is_valid({std::string(32, 'a'), 0, FieldType::kU8}));
  const std::vector<PropertyIndex> twice(2, {"a", 0, FieldType::kU8});
  EXPECT_FALSE(txn::CheckIndexes(twice, 8));
}

}  // namespace
}  // namespace slimgraph::test
