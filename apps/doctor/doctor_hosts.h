// Checks whether the hosts of a hosts file can run the nodes of one job: their names, ssh, the
// program, connections to this host, and clocks.
#pragma once

#include <string>
#include <vector>

#include "apps/doctor/doctor.h"
#include "slimgraph/base/result.h"
#include "slimgraph/launch/hosts.h"

namespace slimgraph {

// What a host has answered.
struct HostAnswer {
  std::string unresolved;  // why its name has no address; "": it has one
  std::string no_login;    // why ssh fails; "": it works
  std::string program;     // the checksum of the program there; "": there is none
  std::string reached;     // the address of this host to which it can connect; "": none
  double clock_s = 0;      // how much its clock is ahead of ours
  double took_s = 0;       // to get the answer
};
DoctorFinding JudgeHost(const HostLine& host, const HostAnswer& answer, const std::string& program,
                        const std::string& checksum);

// Asks each host in the file, one after the other, for at most 10 s.
Result<std::vector<DoctorFinding>> InspectHosts(const std::string& path);

}  // namespace slimgraph
