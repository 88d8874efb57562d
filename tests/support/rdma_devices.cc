#include "tests/support/rdma_devices.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace slimgraph {

std::vector<std::string> RdmaDevices() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/infiniband", none)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void ChooseRdmaDevice(NodeId self) {
  const auto devices = RdmaDevices();
  if (devices.size() < 2) return;
  ::setenv("SLIMGRAPH_VERBS_DEVICE", devices[self % devices.size()].c_str(), 0);
}

}  // namespace slimgraph
