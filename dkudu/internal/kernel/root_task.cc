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

void RestOfRoots::Add(const RootTask& task, const MiningGraph& graph) {
  for (VertexId i = 0; i < task.count; ++i) {
    const VertexId root = task.root(i, graph);
    if (task.slices > 1) {
      slices_.push_back({root, task.slice, task.slices});
    } else {
      whole_[root] = true;
    }
  }
}

// How many slices there are, these, and a bit for each vertex.
std::vector<std::uint64_t> RestOfRoots::ToWords() const {
  std::vector<std::uint64_t> words{slices_.size()};
  for (const Slice& one : slices_) words.insert(words.end(), {one.root, one.slice, one.slices});
  const std::size_t bits = words.size();
  words.resize(bits + (whole_.size() + 63) / 64);
  for (VertexId v = 0; v < whole_.size(); ++v) {
    if (whole_[v]) words[bits + v / 64] |= std::uint64_t{1} << (v % 64);
  }
  return words;
}

RestOfRoots RestOfRoots::FromWords(VertexId vertices, const std::vector<std::uint64_t>& words) {
  RestOfRoots rest(vertices);
  std::size_t at = 1;
  for (std::uint64_t i = 0; i < words[0]; ++i, at += 3) {
    rest.slices_.push_back({static_cast<VertexId>(words[at]),
                            static_cast<std::uint32_t>(words[at + 1]),
                            static_cast<std::uint32_t>(words[at + 2])});
  }
  for (VertexId v = 0; v < vertices; ++v) {
    rest.whole_[v] = (words[at + v / 64] >> (v % 64) & 1) != 0;
  }
  return rest;
}

std::vector<RootTask> RootTasksOf(const MiningGraph& graph, NodeId worker, bool may_slice,
                                  const RestOfRoots* rest) {
  const Grain grain = GrainOf(graph);
  std::vector<RootTask> tasks;
  for (NodeId home = 0; home < graph.nodes(); ++home) {
    const auto degree = [&](VertexId index) { return graph.degree(graph.vertex(home, index)); };
    const auto is_left = [&](VertexId index) {
      return rest == nullptr || rest->has_whole(graph.vertex(home, index));
    };
    VertexId end = graph.index(home).count();
    for (; may_slice && end > 0 && degree(end - 1) > grain.huge_degree; --end) {
      if (!is_left(end - 1)) continue;
      const auto slices = static_cast<std::uint32_t>(degree(end - 1) / (grain.huge_degree / 2));
      for (std::uint32_t i = 0; i < slices; ++i) {
        if ((home + i) % graph.compute() != worker) continue;
        tasks.push_back({home, end - 1, 1, i, slices, degree(end - 1) / slices});
      }
    }
    const bool distributed = graph.is_distributed(home);
    if (!distributed && home % graph.compute() != worker) continue;
    for (NodeId turn = 0; end > 0;) {
      VertexId first = end - 1;
      if (!is_left(first)) {
        end = first;
        continue;
      }
      std::uint64_t neighbours = degree(first);
      while (first > 0 && is_left(first - 1) && end - first < grain.roots &&
             neighbours < grain.neighbours) {
        neighbours += degree(--first);
      }
      if (!distributed || turn == worker) {
        tasks.push_back(
            {.home = home, .first = first, .count = end - first, .neighbours = neighbours});
      }
      turn = (turn + 1) % graph.compute();
      end = first;
    }
  }
  for (std::size_t i = 0; rest != nullptr && i < rest->slices().size(); ++i) {
    if (i % graph.compute() != worker) continue;
    const auto& [root, slice, slices] = rest->slices()[i];
    tasks.push_back(
        {graph.home(root), graph.number(root), 1, slice, slices, graph.degree(root) / slices});
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const RootTask& a, const RootTask& b) {
    return a.first + a.count > b.first + b.count;
  });
  return tasks;
}

}  // namespace slimgraph::dkudu
