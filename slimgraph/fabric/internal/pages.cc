#include "slimgraph/fabric/internal/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "slimgraph/base/units.h"

namespace slimgraph {

namespace {
// A mapping cannot be empty, but a region can.
std::uint64_t MappedBytes(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes, 1); }
}  // namespace

Result<RegionMemory> AllocatePages(std::uint64_t bytes) {
  void* base = ::mmap(nullptr, MappedBytes(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return EnvironmentError("cannot allocate {} for a region: {}", FormatBytes(bytes),
                            std::strerror(errno));
  }
  ::madvise(base, MappedBytes(bytes), MADV_HUGEPAGE);
  return RegionMemory{.base = static_cast<std::byte*>(base), .bytes = bytes};
}

void FreePages(const RegionMemory& memory) {
  if (memory.base != nullptr) ::munmap(memory.base, MappedBytes(memory.bytes));
}

void DiscardPages(const RegionMemory& memory, int advice) {
  if (memory.bytes == 0 || ::madvise(memory.base, memory.bytes, advice) == 0) return;
  std::memset(memory.base, 0, memory.bytes);
}

}  // namespace slimgraph
