// The innermost loops of counting cliques, on rows of bits, by vectors where rows are long.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slimgraph {

// Rows of more than one word have a multiple of this.
constexpr std::size_t kRowGrain = 8;

// Row i stands for bit i + 1 and has only bits of later rows; bit 0 is never set.
struct BitRows {
  const std::uint64_t* first;
  std::size_t words;       // of each row
  std::uint64_t* scratch;  // room for a row

  const std::uint64_t* of(std::size_t bit) const { return first + (bit - 1) * words; }
};

// The edges, or triangles, among the vertices whose bits `among` has.
std::uint64_t CountEdges(const std::uint64_t* among, const BitRows& rows);
std::uint64_t CountTriangles(const std::uint64_t* among, const BitRows& rows);

}  // namespace slimgraph
