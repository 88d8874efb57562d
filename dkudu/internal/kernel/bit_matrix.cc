#include "dkudu/internal/kernel/bit_matrix.h"

#include <bit>
#include <vector>

#include "dkudu/internal/kernel/bit_rows.h"

namespace slimgraph::dkudu {
namespace {

std::uint64_t CountBits(const std::uint64_t* among, std::size_t words) {
  std::uint64_t count = 0;
  for (std::size_t w = 0; w < words; ++w) {
    count += static_cast<std::uint64_t>(std::popcount(among[w]));
  }
  return count;
}

}  // namespace

void BitMatrix::FillRow(std::size_t i, List list, const std::uint32_t* position) {
  std::uint64_t* const row = bits_.data() + i * words_;
  for (const VertexId w : list) {
    const std::uint32_t bit = position[w];
    row[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  row[0] &= ~std::uint64_t{1};
}

std::uint64_t BitMatrix::CountCliques(unsigned size, const Job& job) const {
  if (bits_.empty()) return 0;
  std::vector<std::uint64_t> scratch(words_ * size);
  const std::size_t rows = bits_.size() / words_;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    count += Count(bits_.data() + i * words_, size - 1, scratch.data(), job);
  }
  return count;
}

std::uint64_t BitMatrix::Count(const std::uint64_t* among, unsigned size, std::uint64_t* scratch,
                               const Job& job) const {
  if (size == 1) return CountBits(among, words_);
  if (size == 2) return CountEdges(among, {bits_.data(), words_, scratch});
  if (size == 3) return CountTriangles(among, {bits_.data(), words_, scratch});
  if (job.cancelled()) return 0;
  std::uint64_t count = 0;
  for (std::size_t w = 0; w < words_; ++w) {
    for (std::uint64_t left = among[w]; left != 0; left &= left - 1) {
      const std::size_t bit = w * 64 + static_cast<std::size_t>(std::countr_zero(left));
      const std::uint64_t* const row = bits_.data() + (bit - 1) * words_;
      std::uint64_t any = 0;
      for (std::size_t x = 0; x < words_; ++x) any |= scratch[x] = among[x] & row[x];
      if (any != 0) count += Count(scratch, size - 1, scratch + words_, job);
    }
  }
  return count;
}

}  // namespace slimgraph::dkudu
