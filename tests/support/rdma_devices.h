// The RDMA devices of this machine, as tests use them.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph {

// In order of name.
std::vector<std::string> RdmaDevices();

// Neighbours stand at different ends of the wire: where there are several devices, and none is
// named, this process uses that of its node.
void ChooseRdmaDevice(NodeId self);

}  // namespace slimgraph
