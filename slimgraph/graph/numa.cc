#include "slimgraph/graph/numa.h"

#include <numa.h>
#include <numaif.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "slimgraph/base/check.h"

namespace slimgraph {
namespace {

// The kernel's node numbers of the usable sockets. The numbers may have gaps.
const std::vector<int>& Sockets() {
  static const std::vector<int> sockets = [] {
    std::vector<int> found;
    if (numa_available() < 0) return found;
    for (int node = 0; node <= numa_max_node(); ++node) {
      if (numa_bitmask_isbitset(numa_all_nodes_ptr, static_cast<unsigned>(node))) {
        found.push_back(node);
      }
    }
    return found;
  }();
  return sockets;
}

}  // namespace

std::uint32_t SocketCount() {
  return Sockets().empty() ? 1 : static_cast<std::uint32_t>(Sockets().size());
}

Status BindMemory(MutableBytes bytes, std::uint32_t socket) {
  SLIM_CHECK(socket < SocketCount());
  if (SocketCount() == 1) return {};
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + kPage - 1) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / kPage * kPage;
  if (begin >= end) return {};
  bitmask* const mask = numa_allocate_nodemask();
  numa_bitmask_setbit(mask, static_cast<unsigned>(Sockets()[socket]));
  const long result = ::mbind(reinterpret_cast<void*>(begin), end - begin, MPOL_PREFERRED,
                              mask->maskp, mask->size + 1, 0);
  const int reason = errno;
  numa_free_nodemask(mask);
  if (result == 0) return {};
  return EnvironmentError("cannot bind memory to socket {}: {}", socket, std::strerror(reason));
}

Status RunOnSocket(std::uint32_t socket) {
  SLIM_CHECK(socket < SocketCount());
  if (SocketCount() == 1) return {};
  if (::numa_run_on_node(Sockets()[socket]) == 0) return {};
  return EnvironmentError("cannot run on socket {}: {}", socket, std::strerror(errno));
}

}  // namespace slimgraph
