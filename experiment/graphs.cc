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
// A .slim file's first page has checksums of all the others.
constexpr std::size_t kStampedBytes = 4096;

Result<JsonValue> Ask(std::vector<std::string> words) {
  words.emplace_back("--json");
  SLIM_ASSIGN(const ChildEnd end, RunChild(words, kLimitS));
  if (end.stopped) return EnvironmentError("stopped");
  if (end.code != 0) {
    const auto kind = end.code == 3 ? ErrorKind::kInput : ErrorKind::kEnvironment;
    return tl::unexpected<Error>({kind, end.last_line});
  }
  return ParseJson(end.out, "what slimgraph printed");
}

Result<std::string> Stamp(const std::string& path) {
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(path));
  std::array<std::byte, kStampedBytes> page{};
  SLIM_TRY(ReadAt(fd, path, 0, page));
  return fmt::format("{:016x}", XXH3_64bits(page.data(), page.size()));
}

}  // namespace

Result<std::vector<Graph>> LookAt(const std::vector<std::string>& files,
                                  const std::string& program) {
  std::vector<Graph> graphs;
  for (const std::string& file : files) {
    SLIM_ASSIGN(const JsonValue info, Ask({program, "info", file}));
    Graph graph;
    graph.path = file;
    graph.name = std::filesystem::path(file).stem().string();
    SLIM_ASSIGN(graph.stamp, Stamp(file));
    graph.source = fmt::format("{:.0f}", info.NumberAt("/result/max_degree_id").value_or(0));
    graph.edges = info.NumberAt("/graph/edges").value_or(0);
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
  std::filesystem::create_directories(folder + "/graphs", failed);
  if (failed) return EnvironmentError("cannot make {}/graphs: {}", folder, failed.message());
  SLIM_TRY(Ask({program, "gen", "kron", "-s", scale, "--weights", "1..255", "-o", file}));
  return file;
}

}  // namespace slimgraph::experiment
