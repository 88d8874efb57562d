#include "slimgraph/remote/list_code.h"

#include "slimgraph/remote/internal/decode_list.h"
#include "slimgraph/remote/internal/encode_list.h"

namespace slimgraph {

ListCode::ListCode(VertexId vertices) : vertices_(vertices) {
  for (EdgeOffset length = 1; vertices > 0 && length < kShort; ++length) {
    short_bytes_[length] = static_cast<std::uint16_t>(BytesOf(length));
  }
}

bool ListCode::CanEncode(std::span<const VertexId> list) const {
  return list.empty() || (list.back() < vertices_ && internal::Ascends(list));
}

void ListCode::Encode(std::span<const VertexId> list, std::byte* into) const {
  if (list.empty()) return;
  const Shape shape = ShapeOf(list.size());
  auto* const low = reinterpret_cast<unsigned char*>(into);
  internal::Encode({low, shape.low_bits, shape.low_bytes, low + shape.low_bytes, shape.high_bytes},
                   list);
}

bool ListCode::Decode(const std::byte* from, std::span<VertexId> list) const {
  if (list.empty()) return true;
  const Shape shape = ShapeOf(list.size());
  const auto* const low = reinterpret_cast<const unsigned char*>(from);
  const internal::CodedList coded{low, shape.low_bits, low + shape.low_bytes, shape.high_bytes};
  return internal::DecodeByVectors(coded, list) || internal::DecodeOneByOne(coded, list);
}

bool ListCode::Holds(std::span<const std::byte> coded, EdgeOffset length) const {
  if (length == 0) return true;
  const Shape shape = ShapeOf(length);
  if (shape.low_bytes + shape.high_bytes > coded.size()) return false;
  EdgeOffset set = 0;
  for (const std::byte byte : coded.subspan(shape.low_bytes, shape.high_bytes)) {
    set += static_cast<EdgeOffset>(std::popcount(std::to_integer<unsigned>(byte)));
  }
  return set == length;
}

}  // namespace slimgraph
