// Standing pools, as a client of the same user sees them: starting, filling, showing and stopping
// them. attach.h is for jobs that use their graphs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/pool/descriptor.h"
#include "slimgraph/pool/status.h"

namespace slimgraph {

struct PoolStart {
  std::string name;
  // A new pool needs one of them. With hosts, nodes are started on them in turn, by ssh.
  std::optional<NodeId> nodes = {};
  std::vector<std::string> hosts = {};
  // A command of the shell that starts other commands, such as "srun -N {nodes}"; {nodes} stands
  // for how many.
  std::string launcher = {};
  std::optional<std::uint64_t> memory_bytes = {};  // limit for each node; 0: none
  // What each job may take of each node: memory besides the graph, and traffic. 0: no limit.
  std::optional<std::uint64_t> job_memory_bytes = {};
  std::optional<std::uint64_t> job_bytes_per_s = {};
  std::optional<std::uint64_t> host_cache_bytes = {};  // of each graph; 0: hosts keep no copies
  std::optional<NodeId> copies = {};  // how many nodes keep each part; jobs need only one of them
  // Jobs encrypt what they send over TCP. A pool that encrypts goes on to do so.
  bool encrypts = false;
  std::string program = "/proc/self/exe";  // the slimgraph command
};
struct PoolStarted {
  PoolDescriptor pool;
  NodeId started = 0;                      // nodes; 0: all of them ran already
  std::vector<std::string> reloaded = {};  // graphs, on nodes that had ended
};
// Returns when all nodes answer. If some nodes of the pool have ended, starts them again, and
// loads into them, from the same files, what the others have. An error about a graph leaves the
// pool running.
Result<PoolStarted> StartPool(const PoolStart& start);

struct PoolLoaded {
  NodeId nodes = 0;
  std::uint64_t bytes = 0;  // of all parts
};
struct PoolLoad {
  std::string pool;
  std::string graph;  // its name there
  std::string file;
  std::string shown = {};               // the file that messages name; "": the same
  std::vector<std::string> views = {};  // that are made at once; others, when jobs need them
};
// Loads a graph into all nodes, or into none.
Result<PoolLoaded> LoadIntoPool(const PoolLoad& load);

// New jobs do not find the graph any more. Jobs that use it go on, and its memory is freed at their
// end. Nodes that have ended do not matter.
Status DropFromPool(const std::string& pool, const std::string& graph);

struct PoolNodeView {
  PoolNodeAddress where;
  bool runs = false;
  std::string problem = {};  // why there is no status
  std::optional<PoolNodeStatus> status = {};
};
struct PoolView {
  PoolDescriptor pool;
  std::vector<PoolNodeView> nodes;
};
Result<PoolView> ViewPool(const std::string& name);

// Ends all nodes, and removes the descriptor. An error if jobs are attached, unless `now`: then
// they lose their memory nodes. Also removes what is left of a pool whose nodes have ended.
Status StopPool(const std::string& name, bool now);

// Ends the job whose node 0 is this process (AttachedJobStatus::client): it loses its memory nodes.
// Returns once no node of the pool has the job any more. An error if no such job is attached.
Status CancelJob(const std::string& pool, const std::string& job);

// The job shall have so many compute nodes, which changes between two of its steps. Returns once it
// has them, and how many it had. An error if no such job is attached or it cannot be resized; if it
// says why it keeps those that it has; if it ends before; if it has not changed them after a
// minute.
Result<NodeId> ResizeJob(const std::string& pool, const std::string& job, NodeId compute);

struct PoolSummary {
  std::string name;
  NodeId nodes = 0;
  NodeId running = 0;
  bool read_only = false;    // shared with this user (sharing.h)
  std::string problem = {};  // why its descriptor cannot be used
};
Result<std::vector<PoolSummary>> ListPools();

}  // namespace slimgraph
