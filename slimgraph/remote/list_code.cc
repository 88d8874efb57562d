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

void ListCode::Decode(const std::byte* from, std::span<VertexId> list) const {
  if (list.empty()) return;
  const Shape shape = ShapeOf(list.size());
  const auto* const low = reinterpret_cast<const unsigned char*>(from);
  const internal::CodedList coded{low, shape.low_bits, low + shape.low_bytes};
  if (!internal::DecodeByVectors(coded, list)) internal::DecodeRest(coded, list, 0, 0);
}

}  // namespace slimgraph
