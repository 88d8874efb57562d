// What the nodes of a session tell each other before they act. All compute nodes must make the same
// call; node 0 says what it is about. Memory nodes contribute nothing, and do what is asked.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "slimgraph/base/check.h"
#include "slimgraph/base/result.h"
#include "slimgraph/launch/job.h"

namespace slimgraph::internal {

enum class Task : std::uint32_t {
  kOpen,             // path: of a .slim file
  kOpenStanding,     // path: the facts of the pool's graph
  kLoadVertexLists,  // request: a VertexRequest
  kMine,             // request: a MiningRequest
  kOpenStore,        // path: of a store; request: a StoreRequest
  kSnapshot,         // request: a SnapshotRequest
  kCloseStore,
  kNothing,  // only compute nodes have something to do
  kEnd,
};

struct Call {
  std::string name;  // for messages; equal on all compute nodes
  Task task = Task::kEnd;
  std::uint64_t graph = 0;  // the number of the graph, or of the store, in the session
  std::string path = {};
  std::string shown = {};                   // what messages call the file; "": its path
  std::string request = {};                 // the bytes of a struct
  std::string algorithm = {};               // an Algorithm that compute nodes run afterwards
  std::vector<std::uint64_t> dropped = {};  // graphs that this node does not use any more

  template <typename T>
  void SetRequest(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    request.assign(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  T RequestAs() const {
    static_assert(std::is_trivially_copyable_v<T>);
    SLIM_CHECK(request.size() == sizeof(T), "a request of {} bytes", request.size());
    T value;
    std::memcpy(&value, request.data(), sizeof value);
    return value;
  }
};

// Collective over all nodes of the job. Returns node 0's call; `dropped` becomes the graphs that no
// compute node uses any more. An error on all nodes if compute nodes make different calls, or if
// node 0's `mine` is an error.
// Their requests are not compared: node 0's counts.
Result<Call> AgreeOnCall(Job& job, const std::string& name, const Result<Call>& mine);
// The same on a memory node.
Result<Call> AwaitCall(Job& job);

// Collective over all nodes of the job, and the first thing that they tell each other: an error on
// all nodes unless all have the same text. The layout of requests belongs to the text. This
// exchange must stay as it is in later versions.
Status AgreeOnVersion(Job& job, const std::string& mine);
// Ends the job by this node's error. Returns when all nodes are told of it, or of an earlier loss:
// a process that ends before that is only known to have died.
void FailAndAwait(Job& job, const Error& error);

// Collective over all nodes of the job: the first error of any node, on all of them.
Status AgreeOnStatus(Job& job, const Status& mine);

}  // namespace slimgraph::internal
