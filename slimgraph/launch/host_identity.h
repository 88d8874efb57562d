// Identifies what two processes must share to be neighbours: the kernel, the network namespace and
// the process id namespace. Neighbours can share memory and connect over loopback. Host names do
// not show this, because containers and network namespaces share or invent them.
#pragma once

#include <string>

namespace slimgraph {

std::string HostIdentity();

}  // namespace slimgraph
