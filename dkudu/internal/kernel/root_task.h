// The roots that a compute node works on, divided into tasks that its threads claim one by one.
#pragma once

#include <vector>

#include "dkudu/mining_graph.h"

namespace slimgraph::dkudu {

// Some roots of one home. A root of huge degree may be sliced: the task then has a slice of the
// root's neighbours.
struct RootTask {
  // Small, so that threads finish at about the same time; smaller still if there are few roots for
  // each engine.
  static constexpr VertexId kMaxRoots = 64;

  NodeId home = 0;
  VertexId first = 0;  // numbers within the home
  VertexId count = 0;
  std::uint32_t slice = 0;
  std::uint32_t slices = 1;
  std::uint64_t neighbours = 0;  // of all these roots, or of this slice

  VertexId root(VertexId i, const MiningGraph& graph) const {
    return graph.vertex(home, first + i);
  }
};

// The most neighbours that a task of this graph has.
std::uint64_t MostTaskNeighbours(const MiningGraph& graph);

// What other compute nodes have left of their tasks: whole roots, and slices of roots.
class RestOfRoots {
 public:
  explicit RestOfRoots(VertexId vertices) : whole_(vertices) {}
  static RestOfRoots FromWords(VertexId vertices, const std::vector<std::uint64_t>& words);
  std::vector<std::uint64_t> ToWords() const;

  // Adds the roots of a task.
  void Add(const RootTask& task, const MiningGraph& graph);

  struct Slice {
    VertexId root;
    std::uint32_t slice;
    std::uint32_t slices;
  };
  bool has_whole(VertexId root) const { return whole_[root]; }
  const std::vector<Slice>& slices() const { return slices_; }

 private:
  std::vector<bool> whole_;  // by root
  std::vector<Slice> slices_;
};

// All tasks of compute node `worker`, with roots of high degree first, because they take longest.
// Every node can compute every node's tasks. If roots may be sliced, the slices of a root are
// distributed over all compute nodes. `rest`: only the tasks of these roots; null: of all roots.
std::vector<RootTask> RootTasksOf(const MiningGraph& graph, NodeId worker, bool may_slice,
                                  const RestOfRoots* rest = nullptr);

}  // namespace slimgraph::dkudu
