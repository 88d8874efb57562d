// Copies between a thread's own memory and memory that others change concurrently. They copy word
// by word, in program order, so each aligned word of 8 bytes is either old or new, never torn. On
// x86 this costs no more than plain moves.
#pragma once

#include <cstdint>
#include <cstring>

#include "slimgraph/base/atomic.h"
#include "slimgraph/base/interleave.h"

namespace slimgraph {

using SharedWord = AtomicRef<std::uint64_t>;

inline SharedWord WordAt(std::byte* shared) {
  return SharedWord(*reinterpret_cast<std::uint64_t*>(shared));
}

inline constexpr std::size_t kWordsAtOnce = 8;

// `shared` and `bytes` are multiples of 8. Loads of later calls are not reordered before these.
inline void LoadWords(std::byte* own, const std::byte* shared, std::size_t bytes) {
  auto* from = const_cast<std::byte*>(shared);
  const auto load = [&](std::size_t word) {
    Interleave();
    const std::uint64_t value = WordAt(from + word * sizeof(std::uint64_t)).load();
    std::memcpy(own + word * sizeof value, &value, sizeof value);
  };
  std::size_t words = bytes / sizeof(std::uint64_t);
  for (; words >= kWordsAtOnce; words -= kWordsAtOnce) {
    for (std::size_t i = 0; i < kWordsAtOnce; ++i) load(i);
    from += kWordsAtOnce * sizeof(std::uint64_t);
    own += kWordsAtOnce * sizeof(std::uint64_t);
  }
  for (std::size_t i = 0; i < words; ++i) load(i);
}

// Stores of later calls do not become visible before these.
inline void StoreWords(std::byte* shared, const std::byte* own, std::size_t bytes) {
  const auto store = [&](std::size_t word) {
    std::uint64_t value;
    std::memcpy(&value, own + word * sizeof value, sizeof value);
    Interleave();
    WordAt(shared + word * sizeof value).store(value, std::memory_order_release);
  };
  std::size_t words = bytes / sizeof(std::uint64_t);
  for (; words >= kWordsAtOnce; words -= kWordsAtOnce) {
    for (std::size_t i = 0; i < kWordsAtOnce; ++i) store(i);
    shared += kWordsAtOnce * sizeof(std::uint64_t);
    own += kWordsAtOnce * sizeof(std::uint64_t);
  }
  for (std::size_t i = 0; i < words; ++i) store(i);
}

}  // namespace slimgraph
