// The innermost loops of clique counting on rows of bits; long rows use vector instructions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slimgraph::dkudu {

// Rows longer than one word have a multiple of this many words.
constexpr std::size_t kRowGrain = 8;

// Row i belongs to bit i + 1 and has only bits of later rows; bit 0 is never set.
struct BitRows {
  const std::uint64_t* first;
  std::size_t words;       // of each row
  std::uint64_t* scratch;  // room for a row

  const std::uint64_t* of(std::size_t bit) const { return first + (bit - 1) * words; }
};

// The number of edges, or triangles, among the vertices whose bits are set in `among`.
std::uint64_t CountEdges(const std::uint64_t* among, const BitRows& rows);
std::uint64_t CountTriangles(const std::uint64_t* among, const BitRows& rows);

}  // namespace slimgraph::dkudu
