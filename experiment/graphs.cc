#include "experiment/graphs.h"

#include <xxhash.h>

#include <array>
#include <filesystem>

#include "experiment/child.h"
#include "slimgraph/base/file_io.h"
#include "slimgraph/stats/json_value.h"

namespace slimgraph::experiment {
namespace {

constexpr double kLimitS = 3600;
// The first page of a .slim file has checksums of all other pages.
constexpr std::size_t kStampedBytes = 4096;

// Runs slimgraph and returns what it prints.
Result<std::string> RunSlimgraph(const std::vector<std::string>& words) {
  SLIM_ASSIGN(ChildEnd end, RunChild(words, kLimitS));
  if (end.stopped) return EnvironmentError("stopped");
  if (end.code != 0) {
    const auto kind = end.code == 3 ? ErrorKind::kInput : ErrorKind::kEnvironment;
    return tl::unexpected<Error>({kind, end.last_line});
  }
  return std::move(end.out);
}

Result<std::string> Stamp(const std::string& path) {
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(path));
  std::array<std::byte, kStampedBytes> page{};
  SLIM_TRY(ReadAt(fd, path, 0, page));
  return fmt::format("{:016x}", XXH3_64bits(page.data(), page.size()));
}

Status MakeFolder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder + "/graphs", failed);
  if (failed) return EnvironmentError("cannot make {}/graphs: {}", folder, failed.message());
  return {};
}

}  // namespace

Result<std::vector<Graph>> InspectGraphs(const std::vector<std::string>& files,
                                         const std::string& program) {
  std::vector<Graph> graphs;
  for (const std::string& file : files) {
    SLIM_ASSIGN(const std::string text, RunSlimgraph({program, "info", file, "--json"}));
    SLIM_ASSIGN(const JsonValue info, ParseJson(text, "what slimgraph info printed"));
    Graph graph;
    graph.path = file;
    graph.name = std::filesystem::path(file).stem().string();
    SLIM_ASSIGN(graph.stamp, Stamp(file));
    graph.source = fmt::format("{:.0f}", info.NumberAt("/result/max_degree_id").value_or(0));
    graph.edges = info.NumberAt("/graph/edges").value_or(0);
    const JsonValue* const directed = info.Find("/graph/directed");
    graph.directed = directed != nullptr && *directed == JsonValue(true);
    const std::string weights = info.TextAt("/graph/weights");
    graph.weighted = !weights.empty() && weights != "none";
    for (const Graph& other : graphs) {
      if (other.name == graph.name) {
        return UsageError("{} and {} would have the same name on the page", other.path, file);
      }
    }
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

Result<std::string> MakeGraph(const std::string& folder, bool small, const std::string& program) {
  const std::string scale = small ? "13" : "17";
  std::string file = fmt::format("{}/graphs/kron{}.slim", folder, scale);
  std::error_code failed;
  if (std::filesystem::exists(file, failed)) return file;
  SLIM_TRY(MakeFolder(folder));
  SLIM_TRY(RunSlimgraph({program, "gen", "kron", "-s", scale, "--weights", "1..255", "-o", file}));
  return file;
}

Result<std::string> MakeStore(const std::string& folder, const Graph& graph,
                              const std::string& program) {
  if (graph.directed) {
    return InputError("{}: the graph is directed, but triangles need an undirected one",
                      graph.path);
  }
  SLIM_TRY(MakeFolder(folder));
  const std::string name = fmt::format("{}/graphs/{}-{}", folder, graph.name, graph.stamp);
  std::string store = name + ".store";
  std::error_code failed;
  if (std::filesystem::exists(store, failed)) return store;
  std::string from = graph.path;
  if (graph.weighted) {
    from = name + ".slim";
    SLIM_TRY(RunSlimgraph({program, "convert", graph.path, from, "--drop-weights"}));
  }
  const auto made = RunSlimgraph({program, "store", "create", from, "--vertex-bytes", "128",
                                  "--edge-bytes", "8", "-o", store});
  if (graph.weighted) std::filesystem::remove(from, failed);
  SLIM_TRY(made);
  return store;
}

}  // namespace slimgraph::experiment
