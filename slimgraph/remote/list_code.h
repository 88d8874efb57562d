// The code of lists in memory nodes and on the fabric: the Elias-Fano code of an ascending list. It
// takes about 2 + log2(n / length) bits per vertex (1.66 bytes per edge on kron 20, where plain ids
// take 4). The size of a coded list depends only on its length, so an index of lengths suffices to
// find each list.
//
// With n vertices and l = floor(log2(n / length)): first the low l bits of each vertex, without
// gaps; then, from the next whole byte on, bit number i + (v >> l) is set for the i-th vertex v.
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
  // Decoding may read up to this many bytes after a list.
  static constexpr std::size_t kSlackBytes = 32;

  // For vertices below `vertices`.
  explicit ListCode(VertexId vertices = 1);

  std::size_t Bytes(EdgeOffset length) const {
    return length < kShort ? short_bytes_[length] : BytesOf(length);
  }

  // Whether `list` ascends (equal ids are allowed) and its ids are below the number of vertices.
  bool CanEncode(std::span<const VertexId> list) const;
  // Encodes `list` into Bytes(list.size()) bytes, which must be zero.
  void Encode(std::span<const VertexId> list, std::byte* into) const;
  // Decodes list.size() vertices. For any input, it reads at most Bytes(list.size()) + kSlackBytes
  // bytes and writes only `list`. Returns false, and leaves `list` undefined, if the high bits
  // contain fewer vertices. Bytes that Encode did not make may decode to any ids: the nodes of a
  // job trust each other's lists, but check each other's requests.
  [[nodiscard]] bool Decode(const std::byte* from, std::span<VertexId> list) const;
  // Whether `coded` is long enough for a list of `length` vertices and has exactly as many high
  // bits.
  bool Holds(std::span<const std::byte> coded, EdgeOffset length) const;

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
