// A session: the nodes on which graphs lie and programs run. Open this header first, then graph.h.
//
//   auto session = slimgraph::Session::Open({.nodes = 4});
//   if (!session) return Complain(session.error());
//   auto graph = slimgraph::Graph::Open(*session, "roads.slim");
//
// One node: everything is in this process. Several nodes: the graph is distributed over the memory
// of all of them, and the first `compute` nodes run the program.
//
// - Without a launcher, this process is node 0. Open() starts the other nodes on this machine. If
//   several nodes compute, the others make the same calls as this process, with its arguments. They
//   cannot call functions of your program, so Run and ForEachMatch need a launcher then.
// - A launcher starts the program once for each compute node:
//     slimgraph launch --nodes 4 --compute 2 -- ./program ...
//   Then all compute nodes must make the same calls in the same order. A call returns when all of
//   them have made it. mpiexec.hydra and srun work as well: where they start the program on a
//   memory node, Open() replaces the program with the memory-node program and does not return.
//   Such a process opens one session only.
//
// - Session::Attach("NAME:GRAPH") uses a graph that stands in a pool, with this process as node 0.
//
// The library neither prints nor exits: each call returns a Result (slimgraph/base/result.h). If a
// node fails or dies, the session is over, on all nodes: every later call returns an error. After
// an error that all nodes have alike, such as wrong arguments, the session goes on. A session is
// used by one thread at a time, except Cancel(); different sessions may be used at the same time. A
// process with an open session must not fork, except to start another program at once.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/remote/cache_options.h"

namespace slimgraph {

namespace internal {
class Nodes;
// The command that is installed together with this header; otherwise the name to look up in PATH.
std::string InstalledCommand(const char* header);
}  // namespace internal

struct SessionOptions {
  // "NAME:GRAPH": the session attaches to this graph of a standing pool (`slimgraph pool load`),
  // which Graph::OfPool() opens. The pool's nodes are its memory nodes, so `nodes` stays 0.
  std::string pool_graph = {};
  NodeId nodes = 0;              // 0: as many as the launcher has started; 1 without a launcher
  NodeId compute = 0;            // 0: what the launcher says, or else 1
  std::uint32_t threads = 1;     // of each compute node
  std::string transport = {};    // shm, tcp or verbs; "": shm on one machine, tcp across machines
  std::string network = "none";  // imitate a network: fdr, edr, efa or tcp10
  CacheOptions cache = {};       // what compute nodes keep of other lists, and how they get them
  // The slimgraph command, which nodes that Open() starts run: a path, or a name that is looked up
  // in PATH.
  std::string memory_node_program = internal::InstalledCommand(__FILE__);
};

class Session {
 public:
  // Collective: returns when all nodes are there.
  static Result<Session> Open(const SessionOptions& options = {});
  // The same with options.pool_graph. Without a launcher only.
  static Result<Session> Attach(const std::string& pool_graph, SessionOptions options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  // Closes the session if it is still open and no call has failed. Otherwise it leaves at once.
  ~Session();

  NodeId node() const;                        // this process's number
  bool first() const { return node() == 0; }  // results arrive at node 0
  NodeId nodes() const;
  NodeId compute() const;

  // Ends the call that another thread makes, with an error, within a moment; the session is over.
  // Any thread may call it while that thread is in a call other than Open() and Close(). Bodies of
  // transactions get errors from their operations, and Close() waits until they have returned.
  void Cancel();

  // How much of the call that another thread makes is done, from 0 to 1, on this node. Nothing if
  // the call cannot say it, such as a search whose end cannot be foreseen. Any thread may call it
  // while that thread is in a call other than Open() and Close().
  std::optional<double> Progress() const;

  // Collective: ends the session. After a failure, returns why the session was over. Graphs of the
  // session cannot be used afterwards.
  Status Close();

 private:
  friend class Graph;
  friend class GraphStore;
  explicit Session(std::shared_ptr<internal::Nodes> nodes);
  std::shared_ptr<internal::Nodes> nodes_;
};

}  // namespace slimgraph
