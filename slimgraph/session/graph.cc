#include "slimgraph/session/graph.h"

#include <unistd.h>

#include "slimgraph/base/files.h"
#include "slimgraph/base/folders.h"
#include "slimgraph/files/convert.h"
#include "slimgraph/session/internal/graph_handle.h"
#include "slimgraph/session/internal/temporary_name.h"
#include "slimgraph/session/internal/wording.h"

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
                              const Result<std::string>& path, const std::string& shown) {
  internal::Nodes& nodes = *session.nodes_;
  const auto opening = [&](const std::string& file) {
    return internal::Call{.name = call,
                          .task = internal::Task::kOpen,
                          .graph = nodes.NewGraph(),
                          .path = file,
                          .shown = shown};
  };
  SLIM_ASSIGN(const internal::Call agreed, nodes.Do(call, path.map(opening)));
  auto handle = internal::GraphHandle::Of(session.nodes_, agreed.graph);
  if (path) handle->path = *path;
  return Graph(std::move(handle));
}

// Node 0 writes a file, which all nodes open and which is removed at once.
template <typename Write>
Result<Graph> Graph::OpenTemporary(Session& session, const std::string& call,
                                   const std::string& shown, Write write) {
  internal::Nodes& nodes = *session.nodes_;
  Result<std::string> path;
  if (nodes.self() == 0 && nodes.usable()) {
    path = internal::TemporaryName();
    if (!nodes.job().one_host()) {
      path = tl::unexpected<Error>(Error{
          ErrorKind::kUsage, call + ": the nodes are on several machines: convert the graph with "
                                    "'slimgraph convert' into a .slim file that all of them see"});
    } else if (const Status written = internal::NamingFields(write(*path)); !written) {
      path = tl::unexpected<Error>(written.error());
    }
  }
  auto graph = OpenSlim(session, call, path, shown);
  if (nodes.self() != 0 || !path) return graph;
  if (graph) {
    internal::GraphHandle& handle = graph->handle();
    handle.temporary.Reset(system_files::Open(*path, O_RDONLY | O_CLOEXEC));
    handle.path = fmt::format("/proc/{}/fd/{}", ::getpid(), handle.temporary.get());
  }
  static_cast<void>(RemoveFile(*path));
  return graph;
}

Result<Graph> Graph::Open(Session& session, const std::string& path, const ReadOptions& options) {
  const std::string call = "Graph::Open(" + path + ")";
  SLIM_ASSIGN(ConvertOptions convert, internal::NamingFields(OptionsToRead(path, options)));
  if (convert.from == FileFormat::kSlim) return OpenSlim(session, call, path, path);
  return OpenTemporary(session, call, path, [&](const std::string& out) -> Status {
    convert.out = out;
    Job& job = session.nodes_->job();
    convert.cancelled = [&job] { return job.cancelled(); };
    convert.read_progress = [&job](std::uint64_t done, std::uint64_t total) {
      job.SetProgress(done, total);
    };
    convert.build_progress = convert.read_progress;
    SLIM_TRY(Convert(convert));
    return {};
  });
}

Result<Graph> Graph::OfPool(Session& session) {
  const std::string call = "Graph::OfPool";
  internal::Nodes& nodes = *session.nodes_;
  Result<internal::Call> opening = internal::Call{.name = call,
                                                  .task = internal::Task::kOpenStanding,
                                                  .graph = nodes.NewGraph(),
                                                  .path = nodes.pool_facts()};
  if (nodes.self() == 0 && nodes.pool_facts().empty()) {
    opening = UsageError("{}: the session is not attached to a pool: use Session::Attach", call);
  }
  SLIM_ASSIGN(const internal::Call agreed, nodes.Do(call, std::move(opening)));
  return Graph(internal::GraphHandle::Of(session.nodes_, agreed.graph));
}

Result<Graph> Graph::FromEdges(Session& session, const EdgeArrays& edges) {
  return OpenTemporary(
      session, "Graph::FromEdges", "the graph of Graph::FromEdges", [&](const std::string& out) {
        EdgeArrays written = edges;
        written.cancelled = [&session] { return session.nodes_->job().cancelled(); };
        return WriteSlimFile(written, out);
      });
}

VertexId Graph::vertices() const { return handle_->vertices; }
std::uint64_t Graph::edges() const { return handle_->edges; }
bool Graph::directed() const { return handle_->directed; }
bool Graph::weighted() const { return handle_->weight_type != WeightType::kNone; }
const OriginalIds& Graph::ids() const { return *handle_->ids; }
const std::string& Graph::path() const { return handle_->path; }
std::optional<std::uint64_t> Graph::traffic_bytes() const { return handle_->traffic_bytes; }

}  // namespace slimgraph
