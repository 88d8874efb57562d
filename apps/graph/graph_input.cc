#include "apps/graph/graph_input.h"

#include <unistd.h>

#include <cstdio>

#include "apps/print.h"
#include "slimgraph/base/file_io.h"
#include "slimgraph/base/folders.h"
#include "slimgraph/base/units.h"
#include "slimgraph/files/graph_cache.h"

namespace slimgraph {
namespace {

Status RefuseConversionOptions(const ConvertOptions& how) {
  const char* const given = how.directed     ? (*how.directed ? "--directed" : "--undirected")
                            : how.symmetrize ? "--symmetrize"
                            : how.from       ? "--from"
                                             : nullptr;
  if (given == nullptr || how.from == FileFormat::kSlim) return {};
  return UsageError("{} is for graphs in other formats: {} is a .slim file", given, how.in);
}

// "NAME:G" is a graph of a pool, unless a file has that name.
std::optional<PoolGraph> InPool(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
  PoolGraph named{text.substr(0, colon), text.substr(colon + 1)};
  if (named.pool.find('/') != std::string::npos || ::access(text.c_str(), F_OK) == 0) {
    return std::nullopt;
  }
  return named;
}

Status RefuseConversionInPool(const ConvertOptions& how) {
  const char* const given = how.directed     ? (*how.directed ? "--directed" : "--undirected")
                            : how.symmetrize ? "--symmetrize"
                            : how.from       ? "--from"
                                             : nullptr;
  if (given == nullptr) return {};
  return UsageError("{} is for graphs in files: {} is in a pool, as it was loaded", given, how.in);
}

}  // namespace

void DeclareGraph(Options& options, GraphInput& graph) {
  ConvertOptions& how = graph.how;
  options.Positional("GRAPH",
                     graph.may_stand
                         ? "a .slim file, a graph in another format, which is converted once, or "
                           "NAME:G, the graph G of the pool NAME"
                         : "a .slim file, or a graph in another format, which is converted once",
                     how.in);
  Option& undirected =
      options.Flag("--undirected", "if GRAPH is an edge list: 'u v' and 'v u' are the same edge",
                   [&how] { how.directed = false; });
  if (!graph.must_be_undirected) {
    options
        .Flag("--directed",
              "if GRAPH is an edge list: an edge leads from its first vertex to its "
              "second",
              [&how] { how.directed = true; })
        .Excludes(undirected);
    options.Flag("--symmetrize", "make a graph undirected that is directed in its file",
                 how.symmetrize);
  }
  options
      .Value("--from", "FORMAT", "the format of GRAPH: snap, mtx, metis, sg, wsg, gemini, webgraph",
             [&how](const std::string& text) -> Status {
               SLIM_ASSIGN(how.from, ParseFileFormat(text));
               return {};
             })
      .Default("by the name of GRAPH");
}

Status ResolveGraph(GraphInput& graph) {
  ConvertOptions how = graph.how;
  graph.path = how.in;
  if (graph.may_stand && (graph.standing = InPool(how.in))) return RefuseConversionInPool(how);
  if (how.from == FileFormat::kSlim || (!how.from && IsSlimFile(how.in))) {
    return RefuseConversionOptions(how);
  }
  SLIM_TRY(OpenForReading(how.in));
  SLIM_ASSIGN(const bool is_folder, IsFolder(how.in));
  if (is_folder) {
    return InputError(
        "{}: this is a folder, not a graph; `slimgraph store export` writes the graph of a store",
        how.in);
  }
  if (!how.from) {
    SLIM_ASSIGN(how.from, FileFormatOf(how.in));
  }
  how.weights_if_any = true;  // so that all commands can use the same file
  how.always_undirected = graph.must_be_undirected;
  how.read_progress = ShowProgress("bytes read");
  how.build_progress = ShowProgress("arcs built");
  SLIM_ASSIGN(const CachedGraph found, FindOrConvert(how));
  graph.path = found.path;
  if (!found.converted) return {};
  const ConvertReport& report = *found.converted;
  std::fputs(
      fmt::format("slimgraph: {} is converted to {} ({} vertices, {} edges, {}{}), for later "
                  "commands too\n",
                  how.in, found.path, FormatCount(report.vertices), FormatCount(report.edges),
                  report.directed ? "directed" : "undirected",
                  report.weight_type == WeightType::kNone ? "" : ", with weights")
          .c_str(),
      stderr);
  return {};
}

}  // namespace slimgraph
