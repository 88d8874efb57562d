// What makes two processes neighbours: the same kernel, the same network, the same process numbers.
// Such processes can share memory and meet on loopback. Host names do not tell (containers and
// network namespaces share or invent them).
#pragma once

#include <string>

namespace slimgraph {

std::string HostIdentity();

}  // namespace slimgraph
