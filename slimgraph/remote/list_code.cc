#include "slimgraph/remote/list_code.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/remote/internal/decode_list.h"

namespace slimgraph {

ListCode::ListCode(VertexId vertices) : vertices_(vertices) {
  for (EdgeOffset length = 1; vertices > 0 && length < kShort; ++length) {
    short_bytes_[length] = static_cast<std::uint16_t>(BytesOf(length));
  }
}

bool ListCode::CanEncode(std::span<const VertexId> list) const {
  unsigned falls = 0;  // no early way out, so that many are looked at in one instruction
  for (std::size_t i = 1; i < list.size(); ++i) falls |= list[i] < list[i - 1] ? 1U : 0U;
  return falls == 0 && (list.empty() || list.back() < vertices_);
}

void ListCode::Encode(std::span<const VertexId> list, std::byte* into) const {
  if (list.empty()) return;
  const Shape shape = ShapeOf(list.size());
  const unsigned l = shape.low_bits;
  const VertexId mask = l == 0 ? 0 : ~VertexId{0} >> (32 - l);
  auto* low = reinterpret_cast<unsigned char*>(into);
  unsigned char* const high = low + shape.low_bytes;
  std::uint64_t word = 0;  // of the high bits
  std::size_t word_at = 0;
  std::uint64_t bits = 0;  // the next of the low bits
  unsigned filled = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
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
      std::memcpy(high + word_at * sizeof word, &word, sizeof word);
      word = 0;
      word_at = at / 64;
    }
    word |= std::uint64_t{1} << (at % 64);
  }
  std::memcpy(low, &bits, (filled + 7) / 8);
  const std::size_t rest = shape.high_bytes - word_at * sizeof word;
  std::memcpy(high + word_at * sizeof word, &word, std::min(rest, sizeof word));
}

void ListCode::Decode(const std::byte* from, std::span<VertexId> list) const {
  if (list.empty()) return;
  const Shape shape = ShapeOf(list.size());
  const auto* const low = reinterpret_cast<const unsigned char*>(from);
  const internal::CodedList coded{low, shape.low_bits, low + shape.low_bytes};
  if (!internal::DecodeByVectors(coded, list)) internal::DecodeRest(coded, list, 0, 0);
}

}  // namespace slimgraph
