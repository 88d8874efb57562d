#include "slimgraph/remote/internal/decode_list.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace slimgraph::internal {

bool DecodeOneByOne(const CodedList& coded, std::span<VertexId> list) {
  const unsigned l = coded.low_bits;
  const std::uint64_t mask = (std::uint64_t{1} << l) - 1;
  std::size_t low_bit = 0;
  std::size_t i = 0;
  for (std::size_t high_bit = 0; i < list.size(); high_bit += 64) {
    if (high_bit / 8 >= coded.high_bytes) return false;
    std::uint64_t word;
    std::memcpy(&word, coded.high + high_bit / 8, sizeof word);
    for (; word != 0 && i < list.size(); word &= word - 1) {
      const std::size_t at = high_bit + static_cast<std::size_t>(std::countr_zero(word));
      std::uint64_t low;
      std::memcpy(&low, coded.low + low_bit / 8, sizeof low);
      low = low >> (low_bit % 8) & mask;
      list[i] = static_cast<VertexId>((at - i) << l | low);
      low_bit += l;
      ++i;
    }
  }
  return true;
}

#if defined(__x86_64__)

namespace {

// The most low bits that a 32-bit lane can hold after a shift by up to 7 bits. Eight vertices have
// as many bytes of low bits as one vertex has low bits.
constexpr unsigned kMaxLowBits = 25;

struct Tables {
  // By the value of a byte of high bits: b - k for its k-th set bit, which is bit number b.
  alignas(64) std::int8_t high[256][8] = {};
  std::uint8_t count[256] = {};
  // By the number of low bits: the shuffle and the shifts that move the low bits of eight vertices
  // to their lanes. The upper four lanes are loaded from byte second_half on.
  alignas(32) std::uint8_t shuffle[kMaxLowBits + 1][32] = {};
  alignas(32) std::uint32_t shift[kMaxLowBits + 1][8] = {};
  std::uint8_t second_half[kMaxLowBits + 1] = {};

  constexpr Tables() {
    for (unsigned byte = 0; byte < 256; ++byte) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1) == 0) continue;
        const unsigned k = count[byte]++;
        high[byte][k] = static_cast<std::int8_t>(static_cast<int>(bit) - static_cast<int>(k));
      }
    }
    for (unsigned l = 0; l <= kMaxLowBits; ++l) {
      second_half[l] = static_cast<std::uint8_t>(4 * l / 8);
      for (unsigned lane = 0; lane < 8; ++lane) {
        const unsigned bit = lane * l - (lane < 4 ? 0 : 8U * second_half[l]);
        shift[l][lane] = bit % 8;
        for (unsigned byte = 0; byte < 4; ++byte) {
          shuffle[l][lane * 4 + byte] = static_cast<std::uint8_t>(bit / 8 + byte);
        }
      }
    }
  }
};
constexpr Tables kTables;

// Decodes the high parts of vertices, from the i-th on and from byte `at` of `high` on, until `end`
// vertices are decoded or `high` ends. Vertex j goes to into[j - origin]. Up to eight elements are
// written at once, so elements after the last vertex are overwritten. Returns the next vertex.
__attribute__((target("avx2"))) std::size_t HighParts(std::span<const unsigned char> high,
                                                      std::size_t& at, VertexId* into,
                                                      std::size_t origin, std::size_t i,
                                                      std::size_t end) {
  for (; i < end && at < high.size(); ++at) {
    const unsigned char byte = high[at];
    const __m128i packed = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kTables.high[byte]));
    const __m256i base = _mm256_set1_epi32(static_cast<int>(at * 8 - i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(into + (i - origin)),
                        _mm256_add_epi32(_mm256_cvtepi8_epi32(packed), base));
    i += kTables.count[byte];
  }
  return i;
}

// into[k] = into[k] << l | low bits of vertex k, for 8 * `blocks` vertices.
__attribute__((target("avx2"))) void JoinLowBits(const unsigned char* low, unsigned l,
                                                 VertexId* into, std::size_t blocks) {
  const __m128i by = _mm_cvtsi32_si128(static_cast<int>(l));
  const __m256i mask = _mm256_set1_epi32((1 << l) - 1);
  const __m256i shuffle = _mm256_load_si256(reinterpret_cast<const __m256i*>(kTables.shuffle[l]));
  const __m256i shift = _mm256_load_si256(reinterpret_cast<const __m256i*>(kTables.shift[l]));
  const unsigned char* second = low + kTables.second_half[l];
  for (; blocks > 0; --blocks, low += l, second += l, into += 8) {
    __m256i bits = _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low)));
    bits =
        _mm256_inserti128_si256(bits, _mm_loadu_si128(reinterpret_cast<const __m128i*>(second)), 1);
    bits = _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(bits, shuffle), shift), mask);
    auto* const at = reinterpret_cast<__m256i*>(into);
    _mm256_storeu_si256(at, _mm256_or_si256(_mm256_sll_epi32(_mm256_loadu_si256(at), by), bits));
  }
}

}  // namespace

bool DecodeByVectors(const CodedList& coded, std::span<VertexId> list) {
  static const bool able = __builtin_cpu_supports("avx2") != 0;
  if (!able || coded.low_bits > kMaxLowBits) return false;
  const std::size_t count = list.size();
  const std::size_t whole = count / 8 * 8;
  const std::span<const unsigned char> high(coded.high, coded.high_bytes);
  std::size_t at = 0;
  // Decode into `list` as long as it has room for eight elements. The other high parts, and the
  // vertices from `whole` on, go through the buffer `rest`, in which vertex `whole` is element 8.
  const std::size_t room = count < 8 ? 0 : count - 7;
  const std::size_t done = HighParts(high, at, list.data(), 0, 0, room);
  if (done < room) return false;
  std::array<VertexId, 24> rest;
  const std::size_t origin = whole - 8;  // may wrap around; `i - origin` wraps back
  const auto in_rest = [&](std::size_t i) { return rest.data() + (i - origin); };
  if (done > whole) std::memcpy(in_rest(whole), &list[whole], (done - whole) * sizeof(VertexId));
  if (HighParts(high, at, rest.data(), origin, done, count) < count) return false;
  if (done < whole) std::memcpy(&list[done], in_rest(done), (whole - done) * sizeof(VertexId));
  if (coded.low_bits > 0) {
    JoinLowBits(coded.low, coded.low_bits, list.data(), whole / 8);
    if (whole < count) {
      JoinLowBits(coded.low + whole / 8 * coded.low_bits, coded.low_bits, in_rest(whole), 1);
    }
  }
  if (whole < count)
    std::memcpy(list.data() + whole, in_rest(whole), (count - whole) * sizeof(VertexId));
  return true;
}

#else

bool DecodeByVectors(const CodedList&, std::span<VertexId>) { return false; }

#endif

}  // namespace slimgraph::internal
