// The subgraph among the neighbours of one root, as a row of bits for each neighbour, to count the
// cliques in it. Neighbour i is bit i + 1. Bit 0 receives all vertices that are no neighbours, so
// that rows are filled without a branch. A matrix is a view: its creator owns the words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "dkudu/internal/kernel/bit_rows.h"
#include "dkudu/internal/kernel/sets.h"
#include "slimgraph/launch/job.h"

namespace slimgraph::dkudu {

class BitMatrix {
 public:
  static std::size_t WordsPerRow(std::size_t neighbours) {
    const std::size_t words = neighbours / 64 + 1;
    return words == 1 ? 1 : (words + kRowGrain - 1) / kRowGrain * kRowGrain;
  }
  static std::size_t Words(std::size_t neighbours) { return neighbours * WordsPerRow(neighbours); }
  static std::uint64_t Bytes(std::size_t neighbours) {
    return Words(neighbours) * sizeof(std::uint64_t);
  }

  // `words` points to Words(neighbours) words.
  BitMatrix(std::size_t neighbours, std::uint64_t* words)
      : words_(WordsPerRow(neighbours)), bits_(words, Words(neighbours)) {}
  void Clear() { std::fill(bits_.begin(), bits_.end(), 0); }
  // The contents, which another engine can count if it also gets the number of neighbours.
  std::span<const std::uint64_t> words() const { return bits_; }

  // `position[w]` is i + 1 for neighbour i and 0 for all other vertices.
  void FillRow(std::size_t i, List list, const std::uint32_t* position);

  // The number of cliques of `size` neighbours. Row i must have only bits of later neighbours. If
  // the job is cancelled meanwhile, any number.
  std::uint64_t CountCliques(unsigned size, const Job& job) const;

 private:
  std::uint64_t Count(const std::uint64_t* among, unsigned size, std::uint64_t* scratch,
                      const Job& job) const;

  std::size_t words_;
  std::span<std::uint64_t> bits_;
};

}  // namespace slimgraph::dkudu
