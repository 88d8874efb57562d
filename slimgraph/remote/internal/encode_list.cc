#include "slimgraph/remote/internal/encode_list.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace slimgraph::internal {
namespace {

bool AscendsFrom(std::size_t i, std::span<const VertexId> list) {
  unsigned falls = 0;  // no early exit, so that the compiler can vectorise the loop
  for (; i < list.size(); ++i) falls |= list[i] < list[i - 1] ? 1U : 0U;
  return falls == 0;
}

}  // namespace

void EncodeOneByOne(const CodeInto& into, std::span<const VertexId> list, std::size_t i,
                    std::size_t end) {
  if (i == end) return;
  const unsigned l = into.low_bits;
  const VertexId mask = l == 0 ? 0 : ~VertexId{0} >> (32 - l);
  unsigned char* low = into.low + i * l / 8;
  std::uint64_t bits = 0;  // `filled` low bits that are not written yet
  unsigned filled = 0;
  std::uint64_t word = 0;  // the current word of the high bits
  std::size_t word_at = ((list[i] >> l) + i) / 64;
  const auto bytes_of_word = [&] {
    return std::min(into.high_bytes - word_at * sizeof word, sizeof word);
  };
  if (i > 0) std::memcpy(&word, into.high + word_at * sizeof word, bytes_of_word());
  for (; i < end; ++i) {
    bits |= std::uint64_t{list[i] & mask} << filled;
    filled += l;
    if (filled >= 32) {
      std::memcpy(low, &bits, 4);
      low += 4;
      bits >>= 32;
      filled -= 32;
    }
    const std::size_t at = (list[i] >> l) + i;
    if (at / 64 != word_at) {
      std::memcpy(into.high + word_at * sizeof word, &word, sizeof word);
      word = 0;
      word_at = at / 64;
    }
    word |= std::uint64_t{1} << (at % 64);
  }
  std::memcpy(low, &bits, (filled + 7) / 8);
  std::memcpy(into.high + word_at * sizeof word, &word, bytes_of_word());
}

#if defined(__x86_64__)

namespace {

bool HaveVectors() {
  static const bool able = __builtin_cpu_supports("avx2") != 0;
  return able;
}

__extension__ using Uint128 = unsigned __int128;

template <typename T>
void Put(unsigned char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// The low bits of eight vertices, joined in pairs: each 64-bit lane has those of two vertices.
__attribute__((target("avx2"))) __m256i LowPairs(__m256i ids, __m256i mask, __m128i l) {
  const __m256i bits = _mm256_and_si256(ids, mask);
  const __m256i first = _mm256_and_si256(bits, _mm256_set1_epi64x(0xFFFFFFFF));
  return _mm256_or_si256(first, _mm256_sll_epi64(_mm256_srli_epi64(bits, 32), l));
}

// Writes the low bits of eight vertices: l bytes, in two halves of 4 l bits. A Number has at most
// 8 l bits and at least 4 l, so two overlapping Numbers are written.
template <typename Number>
void PutHalves(unsigned char* at, unsigned l, Number first, Number second) {
  constexpr unsigned kBits = sizeof(Number) * 8;
  Put(at, first | second << (4 * l));
  Put(at + l - sizeof(Number), first >> (8 * l - kBits) | second << (kBits - 4 * l));
}

// Writes the low bits of eight vertices. If that is less than eight bytes, it clears the bytes
// after them, up to eight.
__attribute__((target("avx2"))) void PutLowBits(unsigned char* at, unsigned l, __m256i pairs) {
  alignas(32) std::uint64_t pair[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(pair), pairs);
  if (l >= 16) {
    return PutHalves(at, l, pair[0] | Uint128{pair[1]} << (2 * l),
                     pair[2] | Uint128{pair[3]} << (2 * l));
  }
  const std::uint64_t first = pair[0] | pair[1] << (2 * l);
  const std::uint64_t second = pair[2] | pair[3] << (2 * l);
  if (l >= 8) return PutHalves(at, l, first, second);
  if (l > 0) Put(at, first | second << (4 * l));
}

// A word in which the bits with the given eight numbers are set.
__attribute__((target("avx2"))) std::uint64_t BitsOf(__m256i numbers) {
  const __m256i one = _mm256_set1_epi64x(1);
  const __m256i four = _mm256_or_si256(
      _mm256_sllv_epi64(one, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(numbers))),
      _mm256_sllv_epi64(one, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(numbers, 1))));
  const __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
  return static_cast<std::uint64_t>(
      _mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two))));
}

// Encodes from the i-th vertex on, eight at a time, until eight vertices do not fit the vector
// code. Returns the first vertex that is not encoded.
__attribute__((target("avx2"))) std::size_t EncodeByVectors(const CodeInto& into,
                                                            std::span<const VertexId> list,
                                                            std::size_t i) {
  const unsigned l = into.low_bits;
  const __m128i by = _mm_cvtsi32_si128(static_cast<int>(l));
  const __m256i mask = _mm256_set1_epi32(static_cast<int>((std::uint64_t{1} << l) - 1));
  const __m256i eight = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  std::uint64_t word = 0;  // the high bits from byte word_at on
  std::size_t word_at = into.high_bytes;
  for (; i + 8 <= list.size(); i += 8) {
    const std::size_t byte = std::min(((list[i] >> l) + i) / 8, into.high_bytes - sizeof word);
    const std::size_t last_bit = (list[i + 7] >> l) + i + 7 - byte * 8;
    unsigned char* const low = into.low + i / 8 * l;
    // The high bits of the eight vertices must fit into one word. A write of fewer than eight bytes
    // of low bits must not clear high bits.
    if (last_bit >= 64) break;
    if (l < 8 && low + sizeof word > into.low + into.low_bytes && l > 0) break;
    const __m256i ids = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&list[i]));
    PutLowBits(low, l, LowPairs(ids, mask, by));
    if (word_at == into.high_bytes) {
      std::memcpy(&word, into.high + byte, sizeof word);
    } else {
      Put(into.high + word_at, word);
      const std::size_t ahead = byte - word_at;
      word = ahead < sizeof word ? word >> (8 * ahead) : 0;
    }
    word_at = byte;
    const auto origin = static_cast<int>(static_cast<std::uint32_t>(i - byte * 8));
    const __m256i numbers = _mm256_add_epi32(eight, _mm256_set1_epi32(origin));
    word |= BitsOf(_mm256_add_epi32(_mm256_srl_epi32(ids, by), numbers));
  }
  if (word_at < into.high_bytes) Put(into.high + word_at, word);
  return i;
}

__attribute__((target("avx2"))) bool AscendsByVectors(std::span<const VertexId> list) {
  __m256i ascends = _mm256_set1_epi32(-1);
  std::size_t i = 1;
  for (; i + 8 <= list.size(); i += 8) {
    const __m256i ids = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&list[i]));
    const __m256i before = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&list[i - 1]));
    ascends = _mm256_and_si256(ascends, _mm256_cmpeq_epi32(ids, _mm256_max_epu32(ids, before)));
  }
  return _mm256_movemask_epi8(ascends) == -1 && AscendsFrom(i, list);
}

}  // namespace

void Encode(const CodeInto& into, std::span<const VertexId> list) {
  const bool by_vectors = HaveVectors() && list.size() >= 8 && into.high_bytes >= 8;
  for (std::size_t i = 0; i < list.size();) {
    if (by_vectors) i = EncodeByVectors(into, list, i);
    const std::size_t end = by_vectors ? std::min(i + 8, list.size()) : list.size();
    EncodeOneByOne(into, list, i, end);
    i = end;
  }
}

bool Ascends(std::span<const VertexId> list) {
  return list.size() > 8 && HaveVectors() ? AscendsByVectors(list) : AscendsFrom(1, list);
}

#else

void Encode(const CodeInto& into, std::span<const VertexId> list) {
  EncodeOneByOne(into, list, 0, list.size());
}

bool Ascends(std::span<const VertexId> list) { return AscendsFrom(1, list); }

#endif

}  // namespace slimgraph::internal
