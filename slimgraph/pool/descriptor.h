// The descriptor of a pool: a file by which clients find its nodes, and prove that they may use it.
// Whoever can read it can use and stop the pool, unless its key only reads (sharing.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

// Of requests and answers, and of the descriptor.
constexpr std::uint64_t kPoolProtocol = 7;

struct PoolNodeAddress {
  std::string host = {};     // as the hosts file names it; "": the pool is on one machine alone
  std::string address = {};  // "host:port"
  std::string machine = {};  // the HostIdentity() of its process
  pid_t process = 0;
  std::uint64_t started = 0;  // when the process has started, as the kernel counts it
};

struct PoolDescriptor {
  std::string name = {};
  std::uint64_t protocol = kPoolProtocol;
  std::string version = SLIMGRAPH_VERSION;
  std::string key = {};
  bool read_only = false;  // the key only serves to run jobs
  std::string transport = "shm";
  bool encrypts = false;           // its jobs do (Job::encrypts)
  std::uint64_t memory_bytes = 0;  // limit for each node; 0: none
  // What each job may take of each node: memory besides the graph, and traffic. 0: no limit.
  std::uint64_t job_memory_bytes = 0;
  std::uint64_t job_bytes_per_s = 0;
  std::uint64_t host_cache_bytes = 0;  // that each host keeps of each graph; 0: no caches
  NodeId copies = 1;                   // how many nodes keep each part
  std::string host_name = {};          // of the machine on which it was started
  std::string launcher = {};           // what starts its nodes; "": slimgraph itself
  std::vector<PoolNodeAddress> nodes = {};

  // Copy `copy` of part p is on node p + copy, and part 0 follows the last one.
  NodeId HolderOf(NodeId part, NodeId copy) const {
    return static_cast<NodeId>((part + copy) % nodes.size());
  }
  bool has_hosts() const { return !nodes.empty() && !nodes[0].host.empty(); }
};

// Letters, digits, '-' and '_'.
Status CheckPoolName(std::string_view kind, const std::string& name);

// $SLIMGRAPH_POOLS, else $XDG_RUNTIME_DIR/slimgraph/pools, else ~/.local/state/slimgraph/pools.
Result<std::string> PoolsFolder();
std::string DescriptorPath(const std::string& folder, const std::string& name);
// What the pool's nodes and their children write to standard error. A node on another host has a
// log of its own there.
std::string LogPath(const std::string& folder, const std::string& name);
std::string LogPathOnHost(const std::string& folder, const std::string& name, NodeId node);

Result<std::string> MakePoolsFolder();
// The error says if there is no such pool, or if it is of another protocol or machine.
Result<PoolDescriptor> ReadDescriptor(const std::string& name);
// For whoever changes the pool: also an error if its key only reads. `change` is what the user
// wants, such as "loads graphs".
Result<PoolDescriptor> ReadOwnDescriptor(const std::string& name, std::string_view change);
// Of any file. The pool is called `name` here; "": as the file says.
Result<PoolDescriptor> ReadDescriptorFile(const std::string& path, const std::string& name);
std::string DescriptorText(const PoolDescriptor& pool);
// Replaces an existing one.
Status WriteDescriptor(const PoolDescriptor& pool);
// The names of all descriptors.
Result<std::vector<std::string>> PoolNames();

// When a process has started; 0: it has ended or is about to.
std::uint64_t StartOfProcess(pid_t process);
// Whether the node's process still runs. Its number may have been given to another process. Of a
// node on another machine: whether something answers at its address.
bool IsRunning(const PoolNodeAddress& node);

// The node's log, for messages.
std::string NameOfLog(const PoolDescriptor& pool, NodeId node);

// Held by those who start or stop a pool, one at a time. It is a lock on the pool's log.
struct PoolLock {
  UniqueFd log = {};
};
// Waits for others. Makes the folder and the log if they do not exist.
Result<PoolLock> LockPool(const std::string& name);
// Removes the descriptor and the log of a pool, whose lock is held.
Status RemoveDescriptor(const std::string& name);

}  // namespace slimgraph
