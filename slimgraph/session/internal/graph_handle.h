// One graph of a session, shared by the copies of a Graph.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "slimgraph/base/unique_fd.h"
#include "slimgraph/session/internal/nodes.h"

namespace slimgraph::internal {

struct GraphHandle {
  std::shared_ptr<Nodes> nodes;
  std::uint64_t number = 0;
  // What the file says, which stays known after the session.
  VertexId vertices = 0;
  std::uint64_t edges = 0;
  bool directed = false;
  WeightType weight_type = WeightType::kNone;
  std::shared_ptr<const OriginalIds> ids;
  std::string path;
  std::optional<std::uint64_t> traffic_bytes = {};  // Graph::traffic_bytes()
  UniqueFd temporary;                               // of a .slim file that has no name any more

  // Of a graph that was opened just now.
  static std::shared_ptr<GraphHandle> Of(std::shared_ptr<Nodes> nodes, std::uint64_t number);
  ~GraphHandle() {
    if (nodes) nodes->Drop(number);
  }

  // Agrees with the other nodes on a call about this graph, and does what it asks of every node.
  template <typename Request>
  Result<Call> Do(const std::string& name, Task task, const Request& request,
                  const std::string& algorithm = {}) {
    Call call{.name = name, .task = task, .graph = number, .algorithm = algorithm};
    call.SetRequest(request);
    return nodes->Do(name, std::move(call));
  }
  OpenGraph& open() const { return *nodes->Find(number); }
  // Those that programs of the user's own work on, once they are loaded.
  VertexLists& lists() const { return *open().lists(/*both=*/false); }
  // For the result of what compute nodes have done after Do().
  template <typename T>
  Result<T> Checked(Result<T> result) {
    if (result) return result;
    return tl::unexpected<Error>(nodes->Fail(result.error()));
  }
  // Loads the lists that vertex programs need, unless they are loaded. `request` lacks the cluster.
  // Compute nodes that follow node 0 then run `algorithm`, which is empty for a program of the
  // user's own: they cannot run it, so it is refused.
  Status Load(const std::string& name, VertexRequest request, const std::string& algorithm = {});
};

}  // namespace slimgraph::internal
