#include "slimgraph/launch/host_identity.h"

#include <unistd.h>

#include <array>
#include <fstream>

namespace slimgraph {

std::string HostIdentity() {
#ifdef SLIMGRAPH_SIM
  return "the host of a simulation";  // the same on every machine
#endif
  std::string identity;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), identity);
  for (const char* const space : {"/proc/self/ns/net", "/proc/self/ns/pid"}) {
    std::array<char, 64> target{};
    const ssize_t size = ::readlink(space, target.data(), target.size());
    if (size > 0) identity += "/" + std::string(target.data(), static_cast<std::size_t>(size));
  }
  return identity;
}

}  // namespace slimgraph
