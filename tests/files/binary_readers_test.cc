// GAPBS graphs, Gemini pairs, and text inside gzip and zstd.
#include <zlib.h>
#include <zstd.h>

#include <cstring>

#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

template <typename T>
std::string Raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string Gapbs(bool directed, const std::vector<std::vector<std::int32_t>>& lists,
                  const std::vector<std::vector<std::int32_t>>& in_lists, int ints_per_arc = 1) {
  std::string bytes(1, directed ? '\1' : '\0');
  const auto add = [&](const auto& all) {
    std::vector<std::int64_t> offsets = {0};
    std::string neighbours;
    for (const auto& list : all) {
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(list.size()) / ints_per_arc);
      neighbours += Raw(list);
    }
    if (bytes.size() == 1) {
      bytes += Raw<std::int64_t>({offsets.back(), static_cast<std::int64_t>(all.size())});
    }
    bytes += Raw(offsets) + neighbours;
  };
  add(lists);
  if (directed) add(in_lists);
  return bytes;
}

//  0 --> 1 --> 2 <-> 0
const std::vector<std::vector<std::int32_t>> kOut = {{1, 2}, {2}, {0}};
const std::vector<std::vector<std::int32_t>> kIn = {{2}, {0}, {0, 1}};

TEST(Gapbs, DirectedUndirectedAndWeightedGraphsAreRead) {
  PlainGraph expected;
  expected.vertices = {0, 1, 2};
  expected.arcs = {{{0, 1}, {0}}, {{0, 2}, {0}}, {{1, 2}, {0}}, {{2, 0}, {0}}};
  EXPECT_EQ(Converted("g.sg", Gapbs(true, kOut, kIn), {}), expected);

  expected.vertices = {0, 1, 2, 3};
  expected.arcs = {{{0, 2}, {7}}, {{2, 0}, {7}}, {{1, 2}, {-9}}, {{2, 1}, {-9}}};
  ConvertOptions weighted;
  weighted.weighted = true;
  const auto lists = std::vector<std::vector<std::int32_t>>{{2, 7}, {2, -9}, {0, 7, 1, -9}, {}};
  EXPECT_EQ(Converted("g.wsg", Gapbs(false, lists, {}, 2), weighted), expected);
}

TEST(Gapbs, MalformedInputIsNamed) {
  const std::string good = Gapbs(true, kOut, kIn);
  EXPECT_EQ(ConversionError("g.sg", good + "x"), "g.sg: expected its end at byte 113, found more");
  EXPECT_EQ(ConversionError("g.sg", good.substr(0, 10)),
            "g.sg: truncated: it ends at byte 10, within its header");
  EXPECT_EQ(ConversionError("g.sg", Gapbs(true, kOut, kOut)),
            "g.sg: its incoming edges are not the reverse of its outgoing ones");
  EXPECT_EQ(ConversionError("g.sg", Gapbs(false, {{1}, {}}, {})),
            "g.sg: not symmetric: an undirected graph lists each edge at both ends, with the same "
            "weight; here some edge is listed at one end only or with two weights");
  EXPECT_EQ(ConversionError("g.sg", Gapbs(false, {{1}, {2}}, {})),
            "g.sg: expected neighbours below 2, found 2 in the list of 1");
  std::string claims_much = good;
  const std::int64_t much = std::int64_t{1} << 60;
  std::memcpy(claims_much.data() + 1, &much, sizeof much);
  EXPECT_NE(ConversionError("g.sg", claims_much), "");
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_NE(ConversionError("g.sg", good.substr(0, bytes)), "") << bytes;
  }
}

TEST(Gemini, PairsAreReadWithAndWithoutWeights) {
  ConvertOptions options;
  options.directed = true;
  PlainGraph expected;
  expected.vertices = {3, 5};
  expected.arcs = {{{5, 3}, {0}}};
  const std::string pair = Raw<std::uint32_t>({5, 3});
  EXPECT_EQ(Converted("g.gemini", pair, options), expected);

  options.vertex_count = 6;
  expected.vertices = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(Converted("g.gemini", pair, options), expected);
  options.vertex_count = 5;
  EXPECT_EQ(ConversionError("g.gemini", pair, options),
            "g.gemini: byte 0: expected ids below 5, found 5 3");

  options.vertex_count = 6;
  options.weighted = true;
  expected.arcs = {{{5, 3}, {0.5}}};
  EXPECT_EQ(Converted("g.gemini", pair + Raw<float>({0.5f}), options), expected);
  EXPECT_EQ(
      ConversionError("g.gemini", pair, options),
      "g.gemini: truncated, or not weighted pairs: expected records of 12 bytes, found 8 bytes");
}

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(compressBound(text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

TEST(Compressed, GzipAndZstdAreReadAlsoInSeveralMembers) {
  std::string first;
  for (int i = 0; i < 300'000; ++i)
    first += std::to_string(i % 1000) + " " + std::to_string(i) + "\n";
  const std::string second = "0 999999\n";
  ConvertOptions options;
  options.directed = true;
  const PlainGraph plain = Converted("g.txt", first + second, options);
  EXPECT_EQ(Converted("g.txt.gz", Gzip(first + second), options), plain);
  EXPECT_EQ(Converted("g.txt.gz", Gzip(first) + Gzip(second), options), plain);
  EXPECT_EQ(Converted("g.txt.zst", Zstd(first + second), options), plain);
  EXPECT_EQ(Converted("g.txt.zst", Zstd(first) + Zstd(second), options), plain);
}

TEST(Compressed, TruncatedAndDamagedStreamsAreErrors) {
  auto random = SeededRandom();
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(random() % 99991) + " 7\n";
  ConvertOptions options;
  options.directed = true;
  for (const auto& [name, packed] :
       {std::pair{"g.txt.gz", Gzip(text)}, std::pair{"g.txt.zst", Zstd(text)}}) {
    for (int round = 0; round < 20; ++round) {
      EXPECT_NE(ConversionError(name, packed.substr(0, random() % packed.size()), options), "");
    }
    EXPECT_NE(ConversionError(name, packed + "rubbish", options), "");
    EXPECT_NE(ConversionError(name, text, options), "");
  }
  std::string flipped = Gzip(text);
  flipped[flipped.size() / 2] ^= 1;
  EXPECT_NE(ConversionError("g.txt.gz", flipped, options), "");
}

TEST(Compressed, ErrorsNameTheDecompressedLine) {
  ConvertOptions options;
  options.directed = true;
  EXPECT_EQ(ConversionError("g.txt.gz", Gzip("1 2\n3\n"), options),
            "g.txt.gz:2: expected \"src dst\", found \"3\"");
}

}  // namespace
}  // namespace slimgraph::test
