// The hosts of a hosts file, and how a program runs on one of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/run_child.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

struct HostLine {
  std::string name;
  std::vector<NodeId> ranks;  // of the nodes that mpiexec.hydra starts there
};

// The hosts of the text of a hosts file of mpiexec.hydra, each once: lines "NAME" or
// "NAME:PROCESSES", and comments after '#'. `path` names the file in errors.
Result<std::vector<HostLine>> ParseHosts(std::string_view text, const std::string& path);
Result<std::vector<HostLine>> ReadHosts(const std::string& path);

// By node: the name of its host.
std::vector<std::string> HostsByRank(const std::vector<HostLine>& hosts);

// The name of this host.
std::string HostName();

// Runs a command of the shell on a host: by ssh, or by the program that HYDRA_LAUNCHER_EXEC names,
// or directly if it is this host. `input` becomes its standard input.
Result<ChildEnd> RunOnHost(const std::string& host, const std::string& command,
                           const std::string& input, double limit_s);
// The same; an error unless it ends with 0. Returns what it has printed.
Result<std::string> AskHost(const std::string& host, const std::string& command,
                            const std::string& input, double limit_s);

}  // namespace slimgraph
