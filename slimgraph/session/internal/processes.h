// The processes of a session on this machine.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/launch/place.h"

namespace slimgraph::internal {

// The nodes that a session has started: memory nodes, and compute nodes that follow node 0.
class HelperProcesses {
 public:
  HelperProcesses() = default;
  ~HelperProcesses() { Reap(); }
  HelperProcesses(const HelperProcesses&) = delete;
  HelperProcesses& operator=(const HelperProcesses&) = delete;

  Status Start(const std::string& program, const Place& place);
  // An error if one of them has ended.
  Status CheckAllRun();
  // Waits until they have ended; kills them if that takes too long.
  void Reap();

 private:
  std::vector<pid_t> processes_;
  std::string program_;
};

}  // namespace slimgraph::internal
