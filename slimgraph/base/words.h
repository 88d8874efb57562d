// Copies between this thread's own memory and memory that others change meanwhile: word by word, so
// that each aligned word of 8 bytes is seen old or new, never half, and in the order in which the
// program makes them. On x86 this costs no more than plain moves.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

namespace slimgraph {

using SharedWord = std::atomic_ref<std::uint64_t>;

inline SharedWord WordAt(std::byte* shared) {
  return SharedWord(*reinterpret_cast<std::uint64_t*>(shared));
}

// `shared` and `bytes` are multiples of 8. Loads of later calls are not made before these.
inline void LoadWords(std::byte* own, const std::byte* shared, std::size_t bytes) {
  auto* const from = const_cast<std::byte*>(shared);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = WordAt(from + at).load();
    std::memcpy(own + at, &word, sizeof word);
  }
}

// Stores of later calls are not seen before these.
inline void StoreWords(std::byte* shared, const std::byte* own, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, own + at, sizeof word);
    WordAt(shared + at).store(word, std::memory_order_release);
  }
}

}  // namespace slimgraph
