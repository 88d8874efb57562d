// The phases of a job on a pool: each has its own compute nodes. A job whose compute nodes do not
// change has one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/cluster/handover.h"
#include "slimgraph/stats/report.h"
#include "slimgraph/stats/traffic.h"

namespace slimgraph {

// "C@STEP": from this step of the program on, so many nodes compute.
struct ComputeFrom {
  NodeId compute = 1;
  std::uint64_t step = 0;
};
// "4@0,1@8": in ascending order of steps.
Result<std::vector<ComputeFrom>> ParseComputeSchedule(const std::string& text);

struct Phase {
  NodeId compute = 0;
  std::uint64_t first_step = 0;
  double stall_s = 0;  // from the end of the phase before until this one computes
  double run_s = 0;
  double compute_cpu_s = 0;             // of all compute nodes, with their start
  std::uint64_t handed_over_bytes = 0;  // to the next phase
  std::uint64_t bytes = 0;              // over the fabric, of all nodes
  // A node has died. Then its processor time and bytes are not known.
  bool lost = false;
};

// What a process that computes keeps from one phase to the next. Only node 0 is in several phases.
struct Phases {
  Handover handover;
  HandoverKeeper* keeper = nullptr;  // null unless node 0 may die
  std::vector<Phase> all = {};
  std::vector<Traffic> traffic = {};  // of the phases that have ended, and of all their nodes
  std::uint64_t ended_ns = 0;         // when the last of these has
  std::uint64_t first_step = 0;       // of the phase that runs
  std::uint64_t began_ns = 0;         // when it began to compute; 0: not yet
  double cpu_s = 0;                   // of this process in the phases that have ended
  std::uint64_t announced_bytes = 0;  // node 0: the most that it has announced for a phase

  // The time of the ended phases, if the next one computes from then on.
  double SecondsUntil(std::uint64_t next_began_ns) const;
  // Adds the phase that a death has ended.
  void AddLost(NodeId compute);
  // Sets /phases and, if each step's time is known, /steps/seconds.
  void Set(Report& report) const;
};

}  // namespace slimgraph
