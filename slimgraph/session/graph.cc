#include "slimgraph/session/graph.h"

#include "slimgraph/base/folders.h"
#include "slimgraph/files/convert.h"
#include "slimgraph/session/internal/graph_handle.h"
#include "slimgraph/session/internal/temporary_name.h"

namespace slimgraph {
namespace {

Result<ConvertOptions> OptionsToRead(const std::string& path, const ReadOptions& options) {
  ConvertOptions convert;
  convert.in = path;
  convert.directed = options.directed;
  convert.weighted = options.weighted;
  if (!options.format.empty()) {
    SLIM_ASSIGN(convert.from, ParseFileFormat(options.format));
  } else {
    SLIM_ASSIGN(convert.from, FileFormatOf(path));
  }
  return convert;
}

}  // namespace

Result<Graph> Graph::OpenSlim(Session& session, const std::string& call,
                              const Result<std::string>& path) {
  internal::Nodes& nodes = *session.nodes_;
  const auto opening = [&](const std::string& file) {
    return internal::Call{
        .name = call, .task = internal::Task::kOpen, .graph = nodes.NewGraph(), .path = file};
  };
  SLIM_ASSIGN(const internal::Call agreed, nodes.Do(call, path.map(opening)));
  return Graph(internal::GraphHandle::Of(session.nodes_, agreed.graph));
}

// Node 0 writes a file, which all nodes open and which is removed at once.
template <typename Write>
Result<Graph> Graph::OpenTemporary(Session& session, const std::string& call, Write write) {
  internal::Nodes& nodes = *session.nodes_;
  Result<std::string> path;
  if (nodes.self() == 0 && nodes.usable()) {
    path = internal::TemporaryName();
    if (!nodes.job().one_host()) {
      path = tl::unexpected<Error>(Error{
          ErrorKind::kUsage, call + ": the nodes are on several machines: convert the graph with "
                                    "'slimgraph convert' into a .slim file that all of them see"});
    } else if (const Status written = write(*path); !written) {
      path = tl::unexpected<Error>(written.error());
    }
  }
  auto graph = OpenSlim(session, call, path);
  if (nodes.self() == 0 && path) static_cast<void>(RemoveFile(*path));
  return graph;
}

Result<Graph> Graph::Open(Session& session, const std::string& path, const ReadOptions& options) {
  const std::string call = "Graph::Open(" + path + ")";
  SLIM_ASSIGN(ConvertOptions convert, OptionsToRead(path, options));
  if (convert.from == FileFormat::kSlim) return OpenSlim(session, call, path);
  return OpenTemporary(session, call, [&](const std::string& out) -> Status {
    convert.out = out;
    SLIM_TRY(Convert(convert));
    return {};
  });
}

Result<Graph> Graph::FromEdges(Session& session, const EdgeArrays& edges) {
  return OpenTemporary(session, "Graph::FromEdges",
                       [&](const std::string& out) { return WriteSlimFile(edges, out); });
}

VertexId Graph::vertices() const { return handle_->vertices; }
std::uint64_t Graph::edges() const { return handle_->edges; }
bool Graph::directed() const { return handle_->directed; }
bool Graph::weighted() const { return handle_->weight_type != WeightType::kNone; }
const OriginalIds& Graph::ids() const { return *handle_->ids; }

}  // namespace slimgraph
