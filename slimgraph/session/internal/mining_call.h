// Calls of mining functions, as a compute node that runs the user's program makes them.
#pragma once

#include <string>
#include <utility>

#include "slimgraph/session/graph.h"
#include "slimgraph/session/internal/graph_handle.h"
#include "slimgraph/session/internal/mining.h"
#include "slimgraph/session/patterns.h"
#include "slimgraph/session/vertex_values.h"

namespace slimgraph::internal {

MiningRequest MakeRequest(Graph& graph, MiningRequest::What what, const MatchOptions& options);

// Collective over the compute nodes: agrees on the call with all nodes, and mines.
Result<std::uint64_t> MineInSession(Graph& graph, const std::string& call,
                                    const MiningRequest& request, const MiningSinks& sinks);

// The same for figures of each vertex: value(figures) on node 0.
template <typename T, typename Value>
Result<VertexValues<T>> LocalValues(Graph& graph, const std::string& call,
                                    const MatchOptions& options, Value value) {
  const MiningRequest request = MakeRequest(graph, MiningRequest::kLocal, options);
  const bool first = graph.handle().nodes->self() == 0;
  dgemini::VertexArray<T> values(first ? graph.vertices() : 0);
  const auto local = [&](VertexId v, const dkudu::LocalFigures& figures) -> Status {
    values[v] = value(figures);
    return {};
  };
  SLIM_TRY(MineInSession(graph, call, request, {.local = local}));
  if (!first) return VertexValues<T>();
  return VertexValues<T>(graph.handle().ids, std::move(values));
}

}  // namespace slimgraph::internal
