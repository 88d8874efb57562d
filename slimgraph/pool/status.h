// What a node of a pool tells about itself, and how a pool looks as a whole.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// A graph of which a node keeps a part, or a view of one: the same graph in another form, made from
// the same file when a job first needs it.
struct KeptGraphStatus {
  std::string name = {};
  std::string view = {};  // "": the graph as it was loaded
  std::string id = {};    // of one load: the parts of different loads do not belong together
  std::string file = {};
  std::string shown = {};   // the file that the user has named, from which this one was made
  std::string stamp = {};   // tells apart the states of the file, on the node alone
  std::string facts = {};   // the same for all parts of one file
  std::uint64_t bytes = 0;  // of its parts on this node
  bool ready = false;       // false: it is being loaded
};

// A job that uses a graph.
struct AttachedJobStatus {
  std::string graph = {};
  std::string command = {};
  std::string client = {};  // the job's process on node 0: "NUMBER", or "NUMBER@HOST"
  NodeId compute = 1;       // its compute nodes
  bool resizable = false;   // their number can change
  std::string kept = {};    // why it has not, since the job was last asked; "": no such reason
  bool is_cache = false;    // it is the agent of a host's cache; never told as a job
  bool of_reader = false;   // of a client who only reads (sharing.h); never told
  std::string view = {};    // of the graph; only told of caches
  pid_t deputy = 0;         // of its memory node on this node of the pool
  double seconds = 0;
};

// A host's copies of a graph, or of a view of it.
struct HostCacheStatus {
  std::string graph = {};
  std::string view = {};
  std::string agent = {};  // its process, as AttachedJobStatus::client
  std::uint64_t bytes = 0;
};

struct PoolNodeStatus {
  pid_t process = 0;
  std::uint64_t memory_bytes = 0;  // limit; 0: none
  std::uint64_t used_bytes = 0;
  double up_seconds = 0;
  double processor_seconds = 0;  // that the node has used since it started
  std::vector<KeptGraphStatus> graphs = {};
  std::vector<AttachedJobStatus> jobs = {};
  std::vector<HostCacheStatus> caches = {};
};

// As words of an answer.
std::vector<std::string> ToWords(const PoolNodeStatus& status);
Result<PoolNodeStatus> StatusFromWords(const std::vector<std::string>& words);

}  // namespace slimgraph
