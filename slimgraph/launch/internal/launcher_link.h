// The thread between the command that a person started and the nodes that it started through
// mpiexec: over a local socket it hands them its own output, so that a result needs no copying and
// a progress line finds the terminal; by the end of the socket each learns that the other has died.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

// Set by the launcher for its nodes.
constexpr const char* kLauncherVariable = "SLIMGRAPH_LAUNCHER";

// The node's side.
class LauncherLink {
 public:
  // Takes over the launcher's standard output and error; nothing when there is no launcher.
  static Result<std::unique_ptr<LauncherLink>> OpenFromEnvironment(NodeId self);

  int fd() const { return socket_.get(); }
  // The launcher prints the first line of an error that it is told, and no other.
  void ReportExit(int exit_code, std::string_view line) const;

 private:
  explicit LauncherLink(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

// The launcher's side.
class LauncherSocket {
 public:
  static Result<LauncherSocket> Listen();

  const std::string& name() const { return name_; }
  int fd() const { return listener_.get(); }

  struct Node {
    UniqueFd socket;
    NodeId number = 0;
    pid_t pid = 0;
  };
  // A node that has just come, and has been given our standard output and error.
  std::optional<Node> Accept() const;

 private:
  std::string name_;
  UniqueFd listener_;
};

// What a node has said before it went; nothing when it went without a word.
struct NodeExit {
  int exit_code = 0;
  std::string line;
};
std::optional<NodeExit> ReadExit(int socket);

}  // namespace slimgraph
