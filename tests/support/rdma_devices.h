// The RDMA devices of this machine that tests use.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph {

// Sorted by name.
std::vector<std::string> RdmaDevices();

// Selects a device for this process by its node number, so that neighbouring nodes are at different
// ends of the wire. Does nothing if there is only one device or the environment names one.
void ChooseRdmaDevice(NodeId self);

}  // namespace slimgraph
