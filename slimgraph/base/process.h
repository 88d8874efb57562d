// The end of this process. In a simulation a process is a node.
#pragma once

#ifdef SLIMGRAPH_SIM
#include <csignal>
#include <exception>

#include "slimgraph/base/sim/scheduler.h"
#else
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#endif

namespace slimgraph {

#ifdef SLIMGRAPH_SIM
[[noreturn]] inline void EndProcess(int exit_code) {
  sim::Scheduler& scheduler = *sim::Scheduler::Current();
  scheduler.EndNode(scheduler.node(), exit_code);
  std::terminate();  // not reached
}
[[noreturn]] inline void KillProcess() { EndProcess(128 + SIGKILL); }
#else
// At once: no other thread goes on, and nothing is destroyed.
[[noreturn]] inline void EndProcess(int exit_code) { ::_exit(exit_code); }

// As a crash does. A fault to inject.
[[noreturn]] inline void KillProcess() {
  std::raise(SIGKILL);
  std::abort();
}
#endif

}  // namespace slimgraph
