// How lists lie at memory nodes and cross the fabric: ascending vertices after Elias and Fano, some
// 2 + log2(n / length) bits each (1.66 bytes an edge on kron 20, where ids take 4). The bytes of a
// list follow from its length alone, so whoever knows lengths knows where each list lies.
//
// With n vertices and l = floor(log2(n / length)): the low l bits of each vertex, one after the
// other; then, from a whole byte on, bit number i + (v >> l) is set for the i-th vertex v.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "slimgraph/base/types.h"

namespace slimgraph {

class ListCode {
 public:
  // Decoding may look at so many bytes behind a list.
  static constexpr std::size_t kSlackBytes = 32;

  // For vertices below `vertices`.
  explicit ListCode(VertexId vertices = 1);

  std::size_t Bytes(EdgeOffset length) const {
    return length < kShort ? short_bytes_[length] : BytesOf(length);
  }

  // Whether `list` ascends, with equals or without, and stays below the number of vertices.
  bool CanEncode(std::span<const VertexId> list) const;
  // Into Bytes(list.size()) zeroed bytes.
  void Encode(std::span<const VertexId> list, std::byte* into) const;
  // Of list.size() vertices.
  void Decode(const std::byte* from, std::span<VertexId> list) const;

 private:
  struct Shape {
    unsigned low_bits;
    std::size_t low_bytes;
    std::size_t high_bytes;
  };
  Shape ShapeOf(EdgeOffset length) const {
    unsigned low_bits = 0;
    if (length < vertices_) {
      low_bits = static_cast<unsigned>(std::bit_width(vertices_) -
                                       std::bit_width(static_cast<VertexId>(length)));
      if ((length << low_bits) > vertices_) --low_bits;
    }
    return {low_bits, (length * low_bits + 7) / 8,
            (length + (EdgeOffset{vertices_ - 1} >> low_bits) + 7) / 8};
  }

  std::size_t BytesOf(EdgeOffset length) const {
    const Shape shape = ShapeOf(length);
    return shape.low_bytes + shape.high_bytes;
  }

  static constexpr EdgeOffset kShort = 256;
  VertexId vertices_;
  std::array<std::uint16_t, kShort> short_bytes_{};  // by length
};

}  // namespace slimgraph
