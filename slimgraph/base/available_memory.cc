#include "slimgraph/base/available_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "slimgraph/base/control_group.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

constexpr const char* kMemoryVariable = "SLIMGRAPH_NODE_MEMORY";

std::uint64_t MachineAvailable() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kib = 0;
    if (words >> key >> kib && key == "MemAvailable:") return kib * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

// Every control group from this process's own up to the root may have a limit. A node's own group,
// which its launcher has made, says nothing about the memory that other nodes may use. So it is
// skipped.
std::uint64_t AvailableMemory() {
#ifdef SLIMGRAPH_SIM
  return ~std::uint64_t{0};  // what this machine has does not change a simulation
#endif
  std::uint64_t available = MachineAvailable();
  const auto own = FindControlGroup("memory");
  if (!own) return available;
  auto groups = GroupAndAncestors(own->path);
  if (NodeMemoryLimit() != 0 && groups.size() > 1) groups.erase(groups.begin());
  for (const std::string& group : groups) {
    const GroupMemory memory = MemoryOfGroup(own->version, own->mount + group);
    if (!memory.limit_bytes) continue;
    const std::uint64_t held = memory.used_bytes - memory.cached_bytes;
    available = std::min(available, *memory.limit_bytes - std::min(*memory.limit_bytes, held));
  }
  return available;
}

std::uint64_t MemoryLeftForNode(std::size_t nodes_here) {
  const std::uint64_t share = AvailableMemory() / nodes_here;
  const std::uint64_t limit = NodeMemoryLimit();
  const auto own = limit == 0 ? std::nullopt : FindControlGroup("memory");
  if (!own) return limit == 0 ? share : std::min(share, limit);
  const GroupMemory memory = MemoryOfGroup(own->version, own->folder());
  const std::uint64_t held = memory.used_bytes - memory.cached_bytes;
  return std::min(share, limit - std::min(limit, held));
}

std::uint64_t AddressesLeft(std::uint64_t wanted) {
  for (; wanted > 0; wanted /= 2) {
    void* const base = ::mmap(nullptr, wanted, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, 0);
    if (base == MAP_FAILED) continue;
    ::munmap(base, wanted);
    break;
  }
  return wanted;
}

Status CheckMemory(std::uint64_t bytes, const std::string& purpose) {
  const std::uint64_t available = AvailableMemory();
  if (bytes <= available) return {};
  return EnvironmentError(
      "{} needs {} more memory and this machine has {} left: free some, or use a machine with more",
      purpose, FormatBytes(bytes), FormatBytes(available));
}

std::uint64_t NodeMemoryLimit() {
  const char* const value = std::getenv(kMemoryVariable);
  return value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
}

void AnnounceNodeMemoryLimit(std::uint64_t bytes) {
  ::setenv(kMemoryVariable, fmt::format("{}", bytes).c_str(), 1);
}

}  // namespace slimgraph
