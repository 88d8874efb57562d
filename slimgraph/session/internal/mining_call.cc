#include "slimgraph/session/internal/mining_call.h"

#include <limits>

#include "slimgraph/session/internal/wording.h"

namespace slimgraph::internal {
namespace {

// What MiningGraph::Load would refuse on every node, after the nodes have begun.
Status CheckMinable(Graph& graph, const std::string& call) {
  const GraphHandle& handle = graph.handle();
  if (handle.nodes->closed()) return UsageError("{}: the session is closed", call);
  if (graph.vertices() == 0) return InputError("{}: the graph has no vertices", call);
  if (!graph.directed()) return {};
  if (!handle.open().file().has(Direction::kIn)) {
    return InputError("{}: {} has no incoming lists: convert it without --no-reverse", call,
                      handle.open().file().path());
  }
  if (graph.vertices() > std::numeric_limits<VertexId>::max() / 2) {
    return InputError("{}: more than 2^31 - 1 vertices of a directed graph", call);
  }
  return {};
}

}  // namespace

MiningRequest MakeRequest(Graph& graph, MiningRequest::What what, const MatchOptions& options) {
  MiningRequest request;
  request.cluster = graph.handle().nodes->request();
  request.what = what;
  request.induced = options.induced ? dkudu::Induced::kVertex : dkudu::Induced::kEdge;
  request.options.chunk_bytes = options.chunk_bytes;
  request.options.cache_bytes = options.cache_bytes;
  return request;
}

Result<std::uint64_t> MineInSession(Graph& graph, const std::string& call,
                                    const MiningRequest& request, const MiningSinks& sinks) {
  SLIM_TRY(CheckMinable(graph, call));
  GraphHandle& handle = graph.handle();
  handle.traffic_bytes.reset();
  SLIM_ASSIGN(const Call agreed, handle.Do(call, Task::kMine, request));
  SLIM_ASSIGN(Mined mined,
              handle.Checked(Mine(handle.nodes->job(), handle.nodes->graphs(), handle.number,
                                  agreed.RequestAs<MiningRequest>(), sinks)));
  if (mined.refusal) return tl::unexpected<Error>(NamingFields(*mined.refusal));
  handle.traffic_bytes = mined.traffic_bytes;
  return mined.matches;
}

}  // namespace slimgraph::internal
