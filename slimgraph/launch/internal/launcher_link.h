// A local socket between the command that a user started and the nodes that it started through
// mpiexec. Over it, the launcher passes its own standard output and error to the nodes: results
// need no copying, and a progress line finds the terminal. When the socket closes, each side learns
// that the other has died.
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

// Set by the launcher for its nodes: the name of its socket.
constexpr const char* kLauncherVariable = "SLIMGRAPH_LAUNCHER";

// The node's side of the link.
class LauncherLink {
 public:
  // Replaces this process's standard output and error with the launcher's; returns null if there is
  // no launcher.
  static Result<std::unique_ptr<LauncherLink>> OpenFromEnvironment(NodeId self);

  int fd() const { return socket_.get(); }
  // The launcher prints the first error line that it receives, and ignores later ones.
  void ReportExit(int exit_code, std::string_view line) const;

 private:
  explicit LauncherLink(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

// The launcher's side of the link.
class LauncherSocket {
 public:
  static Result<LauncherSocket> Listen();

  const std::string& name() const { return name_; }
  int fd() const { return listener_.get(); }

  struct Node {
    UniqueFd socket;
    std::optional<NodeId> number;  // nothing until the node has introduced itself
    pid_t pid = 0;
    std::uint64_t deadline_ns = 0;  // for its introduction
  };
  // The next process of this user that has connected. Does not block.
  std::optional<Node> Accept() const;
  // Reads the number of a node that has just connected, and sends it our standard output and error.
  // Returns false if what it sent is not a node number.
  static bool Introduce(Node& node);

 private:
  std::string name_;
  UniqueFd listener_;
};

// What a node has reported before it ended; nothing if it ended without a report.
struct NodeExit {
  int exit_code = 0;
  std::string line;
};
std::optional<NodeExit> ReadExit(int socket);

}  // namespace slimgraph
