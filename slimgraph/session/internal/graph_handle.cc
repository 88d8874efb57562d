#include "slimgraph/session/internal/graph_handle.h"

namespace slimgraph::internal {

// All compute nodes have loaded the same lists, so they agree on whether to load them again.
Status GraphHandle::Load(const std::string& name, VertexRequest request,
                         const std::string& algorithm) {
  request.cluster = nodes->request();
  if (nodes->closed()) return UsageError("{}: the session is closed", name);
  if (algorithm.empty()) SLIM_TRY(nodes->CheckRunsFunctionsOfProgram(name));
  const SlimFile& file = open().file();
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
