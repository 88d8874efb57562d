// A set of nodes of a job. Its operations work on the words that have members, so in a job of at
// most 64 nodes they take one word.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "slimgraph/base/types.h"

namespace slimgraph {

// For nodes 0 .. 64 * kWords - 1. With one word there is no branch on which words have members.
template <std::size_t kWords>
class BasicNodeSet {
  static_assert(kWords <= 64);

 public:
  static constexpr NodeId kRoom = 64 * kWords;

  // Not all words: those without members are undefined.
  BasicNodeSet() { words_[0] = 0; }
  // The nodes 0 .. count - 1.
  static BasicNodeSet First(NodeId count) {
    BasicNodeSet set;
    for (NodeId node = 0; node < count; ++node) set.Add(node);
    return set;
  }

  void Add(NodeId node) {
    const std::size_t word = node / 64;
    if (kWords > 1 && !Used(word)) {
      used_ |= std::uint64_t{1} << word;
      words_[word] = 0;
    }
    words_[kWords > 1 ? word : 0] |= std::uint64_t{1} << (node % 64);
  }
  bool Contains(NodeId node) const {
    const std::size_t word = node / 64;
    if (kWords > 1 && !Used(word)) return false;
    return (words_[kWords > 1 ? word : 0] >> (node % 64) & 1) != 0;
  }
  bool empty() const { return kWords > 1 ? used_ == 0 : words_[0] == 0; }
  void Clear() {
    used_ = 0;
    words_[0] = 0;
  }

  // Calls visit(node) for each member, in ascending order. `visit` must not change the set.
  template <typename Visit>
  void ForEach(Visit visit) const {
    if constexpr (kWords == 1) return ForEachInWord(0, visit);
    for (std::uint64_t rest = used_; rest != 0; rest &= rest - 1) {
      ForEachInWord(static_cast<std::size_t>(std::countr_zero(rest)), visit);
    }
  }

  friend bool operator==(const BasicNodeSet& a, const BasicNodeSet& b) {
    if constexpr (kWords == 1) return a.words_[0] == b.words_[0];
    if (a.used_ != b.used_) return false;
    for (std::uint64_t rest = a.used_; rest != 0; rest &= rest - 1) {
      const auto word = static_cast<std::size_t>(std::countr_zero(rest));
      if (a.words_[word] != b.words_[word]) return false;
    }
    return true;
  }

 private:
  bool Used(std::size_t word) const { return (used_ >> word & 1) != 0; }
  template <typename Visit>
  void ForEachInWord(std::size_t word, Visit& visit) const {
    for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
      visit(static_cast<NodeId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }

  std::uint64_t used_ = 0;  // a bit for each word that has members; without use if kWords is 1
  std::array<std::uint64_t, kWords> words_;
};

using NodeSet = BasicNodeSet<(kMaxNodes + 63) / 64>;
// For jobs of at most 64 nodes.
using SmallNodeSet = BasicNodeSet<1>;

}  // namespace slimgraph
