#include "tests/dkudu/heap.h"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace slimgraph::test {
namespace {

std::atomic<std::uint64_t> heap_bytes{0};
std::atomic<std::uint64_t> heap_peak{0};

void* Take(std::size_t bytes, std::size_t alignment) {
  void* const memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  const std::uint64_t now = heap_bytes += ::malloc_usable_size(memory);
  std::uint64_t peak = heap_peak;
  while (peak < now && !heap_peak.compare_exchange_weak(peak, now)) {
  }
  return memory;
}

void GiveBack(void* memory) {
  if (memory == nullptr) return;
  heap_bytes -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

std::uint64_t HeapBytes() { return heap_bytes; }
std::uint64_t TakeHeapPeak() { return heap_peak.exchange(heap_bytes); }

}  // namespace slimgraph::test

using slimgraph::test::GiveBack;
using slimgraph::test::Take;

void* operator new(std::size_t bytes) { return Take(bytes, 1); }
void* operator new[](std::size_t bytes) { return Take(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return Take(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return Take(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return Take(bytes, 1); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return Take(bytes, 1); }
void operator delete(void* memory) noexcept { GiveBack(memory); }
void operator delete[](void* memory) noexcept { GiveBack(memory); }
void operator delete(void* memory, std::size_t) noexcept { GiveBack(memory); }
void operator delete[](void* memory, std::size_t) noexcept { GiveBack(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { GiveBack(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { GiveBack(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { GiveBack(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { GiveBack(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { GiveBack(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { GiveBack(memory); }
