#include "slimgraph/remote/list_code.h"

#include <cstring>

#include "slimgraph/remote/internal/decode_list.h"

namespace slimgraph {

ListCode::ListCode(VertexId vertices) : vertices_(vertices) {
  for (EdgeOffset length = 1; vertices > 0 && length < kShort; ++length) {
    short_bytes_[length] = static_cast<std::uint16_t>(BytesOf(length));
  }
}

bool ListCode::CanEncode(std::span<const VertexId> list) const {
  VertexId last = 0;
  for (const VertexId v : list) {
    if (v < last) return false;
    last = v;
  }
  return list.empty() || last < vertices_;
}

void ListCode::Encode(std::span<const VertexId> list, std::byte* into) const {
  if (list.empty()) return;
  const Shape shape = ShapeOf(list.size());
  const unsigned l = shape.low_bits;
  const VertexId mask = l == 0 ? 0 : ~VertexId{0} >> (32 - l);
  auto* low = reinterpret_cast<unsigned char*>(into);
  unsigned char* const high = low + shape.low_bytes;
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
    high[at / 8] = static_cast<unsigned char>(high[at / 8] | 1U << (at % 8));
  }
  std::memcpy(low, &bits, (filled + 7) / 8);
}

void ListCode::Decode(const std::byte* from, std::span<VertexId> list) const {
  if (list.empty()) return;
  const Shape shape = ShapeOf(list.size());
  const auto* const low = reinterpret_cast<const unsigned char*>(from);
  const internal::CodedList coded{low, shape.low_bits, low + shape.low_bytes};
  if (!internal::DecodeByVectors(coded, list)) internal::DecodeRest(coded, list, 0, 0);
}

}  // namespace slimgraph
