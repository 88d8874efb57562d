#include "slimgraph/session/internal/graph_handle.h"

namespace slimgraph::internal {

std::shared_ptr<GraphHandle> GraphHandle::Of(std::shared_ptr<Nodes> nodes, std::uint64_t number) {
  const OpenGraph& open = *nodes->Find(number);
  auto handle = std::make_shared<GraphHandle>();
  handle->nodes = std::move(nodes);
  handle->number = number;
  handle->vertices = open.file().vertices();
  handle->edges = open.file().edges();
  handle->directed = open.file().directed();
  handle->weight_type = open.file().weight_type();
  handle->ids = open.ids();
  return handle;
}

// All compute nodes have loaded the same lists, so they agree on whether to load them again.
Status GraphHandle::Load(const std::string& name, VertexRequest request,
                         const std::string& algorithm) {
  request.cluster = nodes->request();
  if (nodes->closed()) return UsageError("{}: the session is closed", name);
  if (algorithm.empty()) SLIM_TRY(nodes->CheckRunsFunctionsOfProgram(name));
  const GraphSource& file = open().file();
  if ((request.pull_in || request.both) && !file.has(Direction::kIn)) {
    return InputError("{}: {} has no incoming lists: convert it without --no-reverse", name,
                      file.path());
  }
  const VertexLists* const lists = open().lists(request.both);
  if (lists != nullptr && lists->request().Covers(request)) {
    SLIM_TRY(Do(name, Task::kNothing, request, algorithm));
    return {};
  }
  if (lists != nullptr) request.Add(lists->request());
  SLIM_TRY(Do(name, Task::kLoadVertexLists, request, algorithm));
  return {};
}

}  // namespace slimgraph::internal
