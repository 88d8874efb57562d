// The place of a process in a job that another process of this machine has started: what it is told
// through its environment, and how such processes are started.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

// Set for each process that a session, `slimgraph launch` or a pool starts: its Place.
constexpr const char* kJoinVariable = "SLIMGRAPH_JOIN";

struct Place {
  NodeId node = 0;
  NodeId nodes = 1;
  NodeId compute = 1;
  std::string hub = {};         // "host:port" of node 0
  std::string secret = {};      // of the job
  bool encrypts = false;        // Job::encrypts
  bool confined = false;        // JoinConfig::confined
  Quota quota = {};             // Job::quota
  std::string host_cache = {};  // Job::host_cache
  int listener = -1;         // node 0: the descriptor of the socket on which it accepts the others
  std::string command = {};  // node 0: what its memory nodes run; "": the session's options say it

  std::string ToText() const;
  JoinConfig Config() const;
};
// Called when a launcher has started this process: an error if it has been a node before.
Status BecomeNodeOnce();
// What the environment says about this process, only once: the variable is removed, since it has
// the job's secret. Nothing: no session and no `slimgraph launch` has started it.
Result<std::optional<Place>> TakePlace();

// Starts a program with this place. It inherits standard error and, unless `quiet`, standard input
// and output; of other files only the place's listener. `ends_with_starter`: see ProgramToStart.
Result<pid_t> StartProgram(const std::vector<std::string>& words, const Place& place, bool quiet,
                           bool ends_with_starter);

}  // namespace slimgraph
