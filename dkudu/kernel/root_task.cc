#include "dkudu/kernel/root_task.h"

#include <algorithm>

namespace slimgraph {
namespace {

// Few, so that threads end together, and with few neighbours in all, for their lists are brought
// together.
constexpr VertexId kTaskRoots = 64;
constexpr std::uint64_t kTaskNeighbours = 1 << 16;

// A root with more neighbours is sliced into pieces of half as many.
constexpr std::uint64_t kHugeDegree = 4096;

}  // namespace

std::vector<RootTask> RootTasksOf(const MiningGraph& graph, bool may_slice) {
  std::vector<RootTask> tasks;
  for (const NodeId home : graph.root_homes()) {
    const auto degree = [&](VertexId index) { return graph.degree(home + index * graph.nodes()); };
    VertexId end = graph.displacements().count(home);
    while (end > 0) {
      if (may_slice && degree(end - 1) > kHugeDegree) {
        const auto slices = static_cast<std::uint32_t>(degree(end - 1) / (kHugeDegree / 2));
        for (std::uint32_t i = 0; i < slices; ++i) tasks.push_back({home, end - 1, 1, i, slices});
        --end;
        continue;
      }
      VertexId first = end - 1;
      std::uint64_t neighbours = degree(first);
      while (first > 0 && end - first < kTaskRoots && neighbours < kTaskNeighbours) {
        neighbours += degree(--first);
      }
      tasks.push_back({home, first, end - first});
      end = first;
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const RootTask& a, const RootTask& b) {
    return a.first + a.count > b.first + b.count;
  });
  return tasks;
}

}  // namespace slimgraph
