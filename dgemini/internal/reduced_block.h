// The results of a block of lists, as a memory node sends them to the compute node that works on
// the block: a head, which vertices have a result, and the results in the order of vertices.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "dgemini/internal/out_boxes.h"
#include "dgemini/step.h"

namespace slimgraph::dgemini {

constexpr VertexId kReducedBlockVertices = 1024;

template <typename R>
class ReducedBlock {
 public:
  using Result = typename R::Result;

  // For the vertices of the words first_word .. first_word + 15 of a bitmap of all vertices.
  explicit ReducedBlock(std::size_t first_word) : first_word_(first_word) {}

  // Adds the result of a vertex. Vertices ascend.
  void Add(VertexId v, const Result& result) {
    bits_[v / 64 - first_word_] |= std::uint64_t{1} << (v % 64);
    if constexpr (!std::is_empty_v<Result>) results_.push_back(result);
    ++count_;
  }
  // Appends the block's bytes, nothing if no vertex has a result.
  void AppendTo(std::vector<std::byte>& bytes) const {
    if (count_ == 0) return;
    std::size_t first = 0;
    std::size_t end = kWords;
    while (bits_[first] == 0) ++first;
    while (bits_[end - 1] == 0) --end;
    const bool as_words = (end - first) * sizeof(bits_[0]) <= count_ * sizeof(std::uint16_t);
    const bool in_short = AreShort();
    const std::size_t name_bytes =
        as_words ? (end - first) * sizeof(bits_[0]) : count_ * sizeof(std::uint16_t);
    const std::size_t before = bytes.size();
    bytes.resize(before + sizeof(Head) + name_bytes +
                 results_.size() * (in_short ? sizeof(Short) : sizeof(Result)));
    std::byte* at = bytes.data() + before;
    Put(at, Head{static_cast<std::uint32_t>(first_word_ + first),
                 static_cast<std::uint16_t>((as_words ? end - first : 0) |
                                            (in_short ? kShortResults : 0)),
                 static_cast<std::uint16_t>(count_)});
    for (std::size_t i = first; i < end; ++i) {
      if (as_words) Put(at, bits_[i]);
      for (std::uint64_t bits = as_words ? 0 : bits_[i]; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
        Put(at, static_cast<std::uint16_t>((i - first) * 64 + bit));
      }
    }
    for (const Result& result : results_) {
      if (in_short) {
        Put(at, Short(result));
      } else {
        Put(at, result);
      }
    }
  }

  // Calls take(v, result) for all results of the blocks in `bytes`, from `at` on.
  template <typename TakeResult>
  static void Visit(Bytes bytes, std::size_t at, TakeResult take) {
    while (at < bytes.size()) {
      const auto head = Take<Head>(bytes, at);
      const std::size_t words = head.words & ~kShortResults;
      const bool in_short = (head.words & kShortResults) != 0;
      std::size_t at_result =
          at + (words > 0 ? words * sizeof(std::uint64_t) : head.count * sizeof(std::uint16_t));
      const auto visit = [&](std::uint64_t place) {
        const auto v = static_cast<VertexId>(std::uint64_t{head.first_word} * 64 + place);
        take(v, TakeResultAt(bytes, in_short, at_result));
      };
      for (std::size_t i = 0; i < words; ++i) {
        for (auto bits = Take<std::uint64_t>(bytes, at); bits != 0; bits &= bits - 1) {
          visit(i * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
        }
      }
      for (std::size_t i = 0; words == 0 && i < head.count; ++i) {
        visit(Take<std::uint16_t>(bytes, at));
      }
      at = at_result;
    }
  }

 private:
  struct Head {
    std::uint32_t first_word;
    std::uint16_t words;  // 0: vertices are named by 16 bits each; with kShortResults added
    std::uint16_t count;
  };
  static constexpr std::uint16_t kShortResults = 0x8000;
  static constexpr std::size_t kWords = kReducedBlockVertices / 64;
  static auto ShortOf() {
    if constexpr (HasShortForm<R>) {
      return typename R::Short();
    } else {
      return Result();
    }
  }
  using Short = decltype(ShortOf());

  bool AreShort() const {
    if constexpr (HasShortForm<R>) {
      for (const Result& result : results_) {
        if (Result(Short(result)) != result) return false;
      }
      return true;
    }
    return false;
  }
  template <typename T>
  static void Put(std::byte*& at, const T& value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  }
  static Result TakeResultAt(Bytes bytes, bool in_short, std::size_t& at) {
    if constexpr (std::is_empty_v<Result>) return {};
    return in_short ? Result(Take<Short>(bytes, at)) : Take<Result>(bytes, at);
  }

  std::size_t first_word_;
  std::array<std::uint64_t, kWords> bits_{};
  std::vector<Result> results_;
  std::size_t count_ = 0;
};

}  // namespace slimgraph::dgemini
