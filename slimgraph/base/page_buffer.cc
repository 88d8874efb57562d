#include "slimgraph/base/page_buffer.h"

#include <sys/mman.h>

#include <cstdint>

#include "slimgraph/base/check.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugePageBytes = 2 << 20;

std::size_t RoundUpToPages(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

void* Map(std::size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
}

// Maps memory that begins at a huge page boundary; the system would use small pages for an
// unaligned beginning.
void* MapAtHugePage(std::size_t bytes) {
  void* const data = Map(bytes + kHugePageBytes);
  if (data == MAP_FAILED) return data;
  auto* const begin = static_cast<std::byte*>(data);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % kHugePageBytes;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, kHugePageBytes - before);
  return begin + before;
}

}  // namespace

Result<PageBuffer> PageBuffer::Allocate(std::size_t bytes, Pages pages) {
  if (bytes == 0) return PageBuffer();
  const bool huge = pages == Pages::kHuge && bytes >= kHugePageBytes;
  void* const data = huge ? MapAtHugePage(RoundUpToPages(bytes)) : Map(RoundUpToPages(bytes));
  if (data == MAP_FAILED) {
    return EnvironmentError("out of memory: the system refused {}", FormatBytes(bytes));
  }
  // The system may refuse huge pages; the buffer then uses small ones.
  if (pages == Pages::kHuge) ::madvise(data, RoundUpToPages(bytes), MADV_HUGEPAGE);
  return PageBuffer(static_cast<std::byte*>(data), bytes);
}

PageBuffer::~PageBuffer() {
  if (data_ != nullptr) ::munmap(data_, RoundUpToPages(bytes_));
}

void PageBuffer::Shrink(std::size_t bytes) {
  SLIM_CHECK(bytes <= bytes_);
  const std::size_t kept = RoundUpToPages(bytes);
  const std::size_t mapped = RoundUpToPages(bytes_);
  if (kept < mapped) ::munmap(data_ + kept, mapped - kept);
  bytes_ = bytes;
  if (bytes == 0) data_ = nullptr;
}

void PageBuffer::Release(std::size_t first, std::size_t bytes) {
  const std::size_t begin = RoundUpToPages(first);
  const std::size_t end = (first + bytes) / kPageBytes * kPageBytes;
  if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

}  // namespace slimgraph
