// The subgraph among the neighbours of one root, a row of bits for each, for counting the cliques
// in it. Neighbour i is bit i + 1; bit 0 takes what is no neighbour, so that rows are filled
// without a branch.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dkudu/kernel/sets.h"

namespace slimgraph {

class BitMatrix {
 public:
  static std::size_t WordsPerRow(std::size_t neighbours);
  static std::uint64_t Bytes(std::size_t neighbours) {
    return neighbours * WordsPerRow(neighbours) * sizeof(std::uint64_t);
  }

  // Zeroed.
  void Reset(std::size_t neighbours) {
    words_ = WordsPerRow(neighbours);
    bits_.assign(neighbours * words_, 0);
  }
  bool empty() const { return bits_.empty(); }
  // To be passed on, with the number of neighbours.
  std::span<const std::uint64_t> words() const { return bits_; }
  void Take(std::size_t neighbours, std::vector<std::uint64_t> words) {
    words_ = WordsPerRow(neighbours);
    bits_ = std::move(words);
  }
  void Free() { std::vector<std::uint64_t>().swap(bits_); }

  // `position[w]` is i + 1 for neighbour i and 0 for all other vertices.
  void FillRow(std::size_t i, List list, const std::uint32_t* position);

  // The cliques of `size` neighbours, where rows only have bits of later neighbours.
  std::uint64_t CountCliques(unsigned size) const;

 private:
  std::uint64_t Count(const std::uint64_t* among, unsigned size, std::uint64_t* scratch) const;

  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
};

}  // namespace slimgraph
