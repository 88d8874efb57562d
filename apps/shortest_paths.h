// Shortest paths from a source in the numbers that fit a graph's weights: what `sssp` and analyses
// of snapshots share.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "dgemini/sssp.h"

namespace slimgraph {

class ShortestPaths {
 public:
  // Looks at what the file says; an error where it has no weights.
  Status Prepare(const GraphSource& file);
  // Collective, with the graph loaded: looks at all weights. `delta`: the width of a bucket of
  // distances; nothing: by the weights.
  Status Examine(Cluster& cluster, const Workload& work, std::optional<double> delta);
  double delta() const { return delta_; }
  static WorkloadNeeds Needs(bool pulls) {
    return {.weights = true, .pull_in = pulls, .vertex_bytes = 8.5, .share_bytes = 16};
  }

  Status Compute(Engine& engine, VertexId source);
  Status Gather(Engine& engine) {
    return std::visit([&](auto& distance) { return engine.Gather(distance); }, distance_);
  }

  // Infinity where no path leads.
  double Distance(VertexId v) const;
  // use(distances in their own numbers).
  template <typename Use>
  void Visit(Use use) const {
    std::visit(use, distance_);
  }
  // Of all nodes: how many vertices a path leads to, and how long the longest is.
  struct Reach {
    double vertices = 0;
    double farthest = 0;
  };
  Result<Reach> FindReach(Engine& engine) const;

 private:
  template <typename Distance>
  Status Keep(Result<VertexArray<Distance>> result) {
    SLIM_ASSIGN(distance_, std::move(result));
    return {};
  }

  std::string path_;
  WeightType type_ = WeightType::kNone;
  VertexId vertices_ = 0;
  double degree_ = 0;
  double longest_ = 0;  // that a path can be
  double delta_ = 0;
  std::variant<VertexArray<std::uint32_t>, VertexArray<std::uint64_t>, VertexArray<double>>
      distance_;
};

}  // namespace slimgraph
