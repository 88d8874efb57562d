#include "slimgraph/remote/list_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "slimgraph/remote/internal/decode_list.h"
#include "slimgraph/remote/internal/encode_list.h"

namespace slimgraph {
namespace {

constexpr VertexId kMany = std::numeric_limits<VertexId>::max();

// Encodes and decodes a list, and checks that decoding writes only the list.
void ExpectComesBack(const ListCode& code, const std::vector<VertexId>& list) {
  ASSERT_TRUE(code.CanEncode(list));
  const std::size_t bytes = code.Bytes(list.size());
  std::vector<std::byte> coded(bytes + ListCode::kSlackBytes, std::byte{0});
  code.Encode(list, coded.data());
  // The following bytes belong to the next list, and must not influence the result.
  std::fill(coded.begin() + static_cast<std::ptrdiff_t>(bytes), coded.end(), std::byte{0xFF});
  constexpr VertexId kMark = 0xABCDEF;
  std::vector<VertexId> found(list.size() + 1, kMark);
  EXPECT_TRUE(code.Decode(coded.data(), std::span(found).first(list.size())));
  EXPECT_EQ(found.back(), kMark);
  found.pop_back();
  EXPECT_EQ(found, list);
}

std::vector<VertexId> Draw(VertexId vertices, std::size_t length, std::mt19937_64& random) {
  std::vector<VertexId> list(length);
  for (VertexId& v : list) v = static_cast<VertexId>(random() % vertices);
  std::sort(list.begin(), list.end());
  return list;
}

TEST(ListCode, DecodesWhatItEncoded) {
  const char* const said = std::getenv("SLIMGRAPH_TEST_SEED");
  const std::uint64_t seed =
      said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("SLIMGRAPH_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const VertexId vertices :
       {1U, 2U, 7U, 64U, 1000U, 1U << 20, (1U << 20) + 1, 1U << 31, kMany}) {
    const ListCode code(vertices);
    for (std::size_t length = 0; length < 70; ++length) {
      ExpectComesBack(code, Draw(vertices, length, random));
    }
    for (int round = 0; round < 40; ++round) {
      ExpectComesBack(code, Draw(vertices, random() % 5000, random));
    }
  }
}

TEST(ListCode, EncodesExtremeLists) {
  for (const VertexId vertices : {1U, 2U, 8U, 63U, 100'003U, kMany}) {
    const ListCode code(vertices);
    ExpectComesBack(code, {});
    ExpectComesBack(code, {0});
    ExpectComesBack(code, {vertices - 1});
    ExpectComesBack(code, {0, vertices - 1});
    ExpectComesBack(code, std::vector<VertexId>(300, vertices - 1));
    ExpectComesBack(code, std::vector<VertexId>(300, 0));
    if (vertices == kMany) continue;
    std::vector<VertexId> all(vertices);
    for (VertexId v = 0; v < vertices; ++v) all[v] = v;
    ExpectComesBack(code, all);
    all.insert(all.end(), 5, vertices - 1);
    ExpectComesBack(code, all);
  }
}

TEST(ListCode, DecodesAlikeWithAndWithoutVectors) {
  std::mt19937_64 random(11);
  const ListCode code(1 << 20);
  const auto list = Draw(1 << 20, 1000, random);
  // 1000 << 10 is at most 1 << 20, so there are ten low bits.
  std::vector<std::byte> coded(code.Bytes(list.size()) + ListCode::kSlackBytes);
  code.Encode(list, coded.data());
  const auto* const low = reinterpret_cast<const unsigned char*>(coded.data());
  std::vector<VertexId> found(list.size());
  EXPECT_TRUE(internal::DecodeOneByOne({low, 10, low + 1250, coded.size() - 1250}, found));
  EXPECT_EQ(found, list);
}

// If ids are first close together and then far apart, the vector code cannot take eight at a time.
TEST(ListCode, CodesAlikeWithAndWithoutVectors) {
  std::mt19937_64 random(12);
  for (const VertexId vertices : {100U, 1U << 16, 1U << 20, kMany}) {
    const ListCode code(vertices);
    for (int round = 0; round < 300; ++round) {
      auto list = Draw(vertices, random() % (round % 10 == 0 ? 5000 : 80) + 1, random);
      for (VertexId& v : list) v = random() % 2 == 0 ? v % (vertices / 50) : v;
      std::sort(list.begin(), list.end());
      const std::size_t bytes = code.Bytes(list.size());
      std::vector<std::byte> coded(bytes + ListCode::kSlackBytes, std::byte{0xAA});
      std::fill_n(coded.begin(), bytes, std::byte{0});
      std::vector<std::byte> expected = coded;
      code.Encode(list, coded.data());
      auto* const low = reinterpret_cast<unsigned char*>(expected.data());
      unsigned low_bits = 0;
      while (list.size() << (low_bits + 1) <= vertices) ++low_bits;
      const std::size_t low_bytes = (list.size() * low_bits + 7) / 8;
      internal::EncodeOneByOne({low, low_bits, low_bytes, low + low_bytes, bytes - low_bytes}, list,
                               0, list.size());
      ASSERT_EQ(coded, expected) << vertices << ", a list of " << list.size();
      ExpectComesBack(code, list);
    }
  }
}

TEST(ListCode, RejectsListsThatDoNotAscendOrHaveInvalidIds) {
  const ListCode code(10);
  EXPECT_TRUE(code.CanEncode(std::vector<VertexId>{1, 1, 9}));
  EXPECT_FALSE(code.CanEncode(std::vector<VertexId>{2, 1}));
  EXPECT_FALSE(code.CanEncode(std::vector<VertexId>{1, 10}));
}

TEST(ListCode, TakesTwoBitsAndTheLogarithmOfTheGapForEachVertex) {
  const ListCode code(1 << 20);
  for (const EdgeOffset length : {1U, 10U, 100U, 1000U, 100'000U}) {
    const double bits = static_cast<double>(length) * (3.1 + std::log2((1 << 20) / length)) + 16;
    EXPECT_LE(static_cast<double>(code.Bytes(length) * 8), bits) << length;
  }
  EXPECT_EQ(code.Bytes(0), 0U);
}

}  // namespace
}  // namespace slimgraph
