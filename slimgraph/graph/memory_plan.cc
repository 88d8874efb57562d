#include "slimgraph/graph/memory_plan.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>

#include "slimgraph/base/units.h"
#include "slimgraph/launch/node_limits.h"

namespace slimgraph {
namespace {

template <typename Partition>
Status AddArcs(const GraphSource& file, const Partition& partition, Direction direction,
               std::vector<PartSize>& parts) {
  constexpr std::size_t kPiece = 1 << 20;
  const std::size_t vertices = file.vertices();
  std::vector<EdgeOffset> piece;
  for (std::size_t first = 0; first < vertices; first += kPiece) {
    piece.resize(std::min(kPiece, vertices - first) + 1);
    SLIM_TRY(file.ReadElements(file.offsets(direction), first, std::span(piece)));
    for (std::size_t i = 0; i + 1 < piece.size(); ++i) {
      PartSize& part = parts[partition.owner(static_cast<VertexId>(first + i))];
      (direction == Direction::kOut ? part.out_arcs : part.in_arcs) += piece[i + 1] - piece[i];
    }
  }
  return {};
}

std::optional<std::uint64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;  // no such file, or "max"
}

std::uint64_t MachineAvailable() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kib = 0;
    if (words >> key >> kib && key == "MemAvailable:") return kib * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

// The part of a group's memory that is cached files, which the system takes back when it is needed.
std::uint64_t CachedFiles(const std::string& stat_file) {
  std::ifstream stat(stat_file);
  std::uint64_t cached = 0;
  std::string key;
  for (std::uint64_t value = 0; stat >> key >> value;) {
    if (key == "active_file" || key == "inactive_file") cached += value;
  }
  return cached;
}

void LimitBy(std::uint64_t& available, const std::string& group, const std::string& limit_name,
             const std::string& used_name) {
  const auto limit = NumberIn(group + "/" + limit_name);
  const auto used = NumberIn(group + "/" + used_name);
  if (!limit || !used) return;
  const std::uint64_t held = *used - std::min(*used, CachedFiles(group + "/memory.stat"));
  available = std::min(available, *limit > held ? *limit - held : 0);
}

// Every group from this process's own up to the root may have a limit. A node's own group, which
// its launcher has made, says nothing of what other nodes may take.
void LimitByGroups(std::uint64_t& available, std::string group, const std::string& root,
                   const std::string& limit_name, const std::string& used_name) {
  if (NodeMemoryLimit() != 0) group.erase(group.rfind('/'));
  while (true) {
    LimitBy(available, root + group, limit_name, used_name);
    if (group.empty() || group == "/") return;
    group.erase(group.rfind('/'));
  }
}

}  // namespace

template <typename Partition>
Result<std::vector<PartSize>> PartSizes(const GraphSource& file, const Partition& partition,
                                        const GraphNeeds& needs) {
  std::vector<PartSize> parts(partition.nodes());
  for (NodeId node = 0; node < partition.nodes(); ++node) {
    parts[node].vertices = partition.part(node).count;
  }
  if (needs.out_lists) SLIM_TRY(AddArcs(file, partition, Direction::kOut, parts));
  if (needs.in_lists && file.directed()) {
    SLIM_TRY(AddArcs(file, partition, Direction::kIn, parts));
  }
  return parts;
}

template Result<std::vector<PartSize>> PartSizes(const GraphSource&, const ChunkPartition&,
                                                 const GraphNeeds&);
template Result<std::vector<PartSize>> PartSizes(const GraphSource&, const HashPartition&,
                                                 const GraphNeeds&);

std::uint64_t MemoryPlan::largest() const {
  return node_bytes.empty() ? 0 : *std::max_element(node_bytes.begin(), node_bytes.end());
}

std::uint64_t MemoryPlan::total() const {
  return std::accumulate(node_bytes.begin(), node_bytes.end(), std::uint64_t{0}) -
         std::accumulate(mapped_bytes.begin(), mapped_bytes.end(), std::uint64_t{0});
}

std::uint64_t MemoryPlan::more_bytes(NodeId node) const {
  return node_bytes.at(node) - held_bytes - (mapped_bytes.empty() ? 0 : mapped_bytes[node]);
}

MemoryPlan PlanMemory(const GraphSource& file, const std::vector<PartSize>& parts,
                      const GraphNeeds& needs) {
  const std::uint64_t arc_bytes =
      sizeof(VertexId) + (needs.weights ? WeightBytes(file.weight_type()) : 0);
  const bool in_lists = needs.in_lists && file.directed();
  MemoryPlan plan;
  for (const PartSize& part : parts) {
    const std::uint64_t offset_bytes = (std::uint64_t{part.vertices} + 1) * sizeof(EdgeOffset);
    std::uint64_t bytes = 0;
    if (needs.out_lists) bytes += offset_bytes + part.out_arcs * arc_bytes;
    if (in_lists) bytes += offset_bytes + part.in_arcs * arc_bytes;
    plan.node_bytes.push_back(bytes);
  }
  return plan;
}

std::string Describe(const MemoryPlan& plan) {
  return fmt::format("memory for the graph: {} on the fullest of {} nodes, {} in all",
                     FormatBytes(plan.largest()), plan.node_bytes.size(),
                     FormatBytes(plan.total()));
}

std::uint64_t AvailableMemory() {
  std::uint64_t available = MachineAvailable();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "id:controllers:path"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      LimitByGroups(available, group, "/sys/fs/cgroup", "memory.max", "memory.current");
    } else if (controllers.find(",memory,") != std::string::npos) {
      LimitByGroups(available, group, "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                    "memory.usage_in_bytes");
    }
  }
  return available;
}

Status CheckMemory(std::uint64_t bytes, const std::string& purpose) {
  const std::uint64_t available = AvailableMemory();
  if (bytes <= available) return {};
  return EnvironmentError(
      "{} needs {} more memory and this machine has {} left: free some, or use a machine with more",
      purpose, FormatBytes(bytes), FormatBytes(available));
}

Status CheckFits(const MemoryPlan& plan, const std::vector<NodeId>& nodes_here) {
  std::uint64_t needed = 0;
  const std::uint64_t limit = NodeMemoryLimit();
  for (const NodeId node : nodes_here) {
    const std::uint64_t bytes = plan.more_bytes(node);
    needed += bytes;
    if (limit == 0 || bytes <= limit) continue;
    return EnvironmentError("{} needs {} more on node {}, and a node may hold {} (--node-memory)",
                            plan.what, FormatBytes(bytes), node, FormatBytes(limit));
  }
  const std::uint64_t available = AvailableMemory();
  if (needed <= available) return {};
  return EnvironmentError(
      "{} needs {} for {} node(s) on this machine, which has {} left: spread the job over more "
      "machines, or use ones with more memory",
      plan.what, FormatBytes(needed), nodes_here.size(), FormatBytes(available));
}

}  // namespace slimgraph
