#include "dkudu/internal/kernel/root_task.h"

#include <algorithm>

namespace slimgraph::dkudu {
namespace {

// A task with this many neighbours takes no more roots, because their lists are fetched together.
constexpr std::uint64_t kTaskNeighbours = 1 << 16;

// A root with more neighbours is sliced; a slice has about half this many.
constexpr std::uint64_t kHugeDegree = 4096;

// In a graph that is small for the number of engines, tasks shrink until each engine has this many.
constexpr std::uint64_t kTasksOfEngine = 32;

struct Grain {
  std::uint64_t roots;
  std::uint64_t neighbours;
  std::uint64_t huge_degree;
};

Grain GrainOf(const MiningGraph& graph) {
  const std::uint64_t engines = std::uint64_t{graph.compute()} * graph.threads();
  const std::uint64_t tasks = engines * kTasksOfEngine;
  const std::uint64_t share = graph.sums().arcs / tasks;
  // A single engine gets small tasks too, because the largest task determines its memory.
  const auto neighbours = std::clamp<std::uint64_t>(share, 1, kTaskNeighbours);
  if (engines == 1) return {RootTask::kMaxRoots, neighbours, kHugeDegree};
  return {std::clamp<std::uint64_t>(graph.vertices() / tasks, 1, RootTask::kMaxRoots), neighbours,
          std::clamp<std::uint64_t>(share, 2, kHugeDegree)};
}

}  // namespace

std::uint64_t MostTaskNeighbours(const MiningGraph& graph) {
  return std::min(GrainOf(graph).neighbours + graph.sums().most, graph.sums().arcs);
}

std::vector<RootTask> RootTasksOf(const MiningGraph& graph, NodeId worker, bool may_slice) {
  const Grain grain = GrainOf(graph);
  std::vector<RootTask> tasks;
  for (NodeId home = 0; home < graph.nodes(); ++home) {
    const auto degree = [&](VertexId index) { return graph.degree(graph.vertex(home, index)); };
    VertexId end = graph.index(home).count();
    for (; may_slice && end > 0 && degree(end - 1) > grain.huge_degree; --end) {
      const auto slices = static_cast<std::uint32_t>(degree(end - 1) / (grain.huge_degree / 2));
      for (std::uint32_t i = 0; i < slices; ++i) {
        if ((home + i) % graph.compute() != worker) continue;
        tasks.push_back({home, end - 1, 1, i, slices, degree(end - 1) / slices});
      }
    }
    const bool distributed = graph.is_distributed(home);
    if (!distributed && home % graph.compute() != worker) continue;
    for (NodeId turn = 0; end > 0; turn = (turn + 1) % graph.compute()) {
      VertexId first = end - 1;
      std::uint64_t neighbours = degree(first);
      while (first > 0 && end - first < grain.roots && neighbours < grain.neighbours) {
        neighbours += degree(--first);
      }
      if (!distributed || turn == worker) {
        tasks.push_back(
            {.home = home, .first = first, .count = end - first, .neighbours = neighbours});
      }
      end = first;
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const RootTask& a, const RootTask& b) {
    return a.first + a.count > b.first + b.count;
  });
  return tasks;
}

}  // namespace slimgraph::dkudu
