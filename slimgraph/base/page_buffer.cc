#include "slimgraph/base/page_buffer.h"

#include <sys/mman.h>

#include "slimgraph/base/check.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

constexpr std::size_t kPageBytes = 4096;

std::size_t PageUp(std::size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

}  // namespace

Result<PageBuffer> PageBuffer::Allocate(std::size_t bytes, Pages pages) {
  if (bytes == 0) return PageBuffer();
  void* data = ::mmap(nullptr, PageUp(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return EnvironmentError("out of memory: the system refused {}", FormatBytes(bytes));
  }
  // Refused where the system has none; then small ones do.
  if (pages == Pages::kHuge) ::madvise(data, PageUp(bytes), MADV_HUGEPAGE);
  return PageBuffer(static_cast<std::byte*>(data), bytes);
}

PageBuffer::~PageBuffer() {
  if (data_ != nullptr) ::munmap(data_, PageUp(bytes_));
}

void PageBuffer::Shrink(std::size_t bytes) {
  SLIM_CHECK(bytes <= bytes_);
  const std::size_t kept = PageUp(bytes);
  const std::size_t mapped = PageUp(bytes_);
  if (kept < mapped) ::munmap(data_ + kept, mapped - kept);
  bytes_ = bytes;
  if (bytes == 0) data_ = nullptr;
}

void PageBuffer::Release(std::size_t first, std::size_t bytes) {
  const std::size_t begin = PageUp(first);
  const std::size_t end = (first + bytes) / kPageBytes * kPageBytes;
  if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

}  // namespace slimgraph
