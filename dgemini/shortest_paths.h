// Shortest paths from a source. Distances have a number type that fits the graph's weights.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "dgemini/programs.h"

namespace slimgraph::dgemini {

class ShortestPaths {
 public:
  // Reads the file's header; an error if the graph has no weights.
  Status Prepare(const GraphSource& file);
  // Collective; call it after the graph is loaded. Examines the range of all weights. `delta` is
  // the width of a bucket of distances; without it, the weights determine the width.
  Status Examine(Cluster& cluster, const Workload& work, std::optional<double> delta);
  double delta() const { return delta_; }
  static WorkloadNeeds Needs(Mode mode) {
    return {
        .weights = true, .pull_in = mode != Mode::kPush, .vertex_bytes = 8.5, .share_bytes = 16};
  }

  Status Compute(Engine& engine, VertexId source);
  Status Gather(Engine& engine) {
    return std::visit([&](auto& distance) { return engine.Gather(distance); }, distance_);
  }

  // Infinity for a vertex without a path from the source.
  double Distance(VertexId v) const;
  // Calls use(distances), with distances in their own number type.
  template <typename Use>
  void Visit(Use use) const {
    std::visit(use, distance_);
  }
  // Over all nodes: the number of reached vertices, and the largest distance.
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
  double longest_ = 0;  // an upper bound on the length of a path
  double delta_ = 0;
  bool widens_ = false;  // buckets may become wider than delta_
  std::variant<VertexArray<std::uint32_t>, VertexArray<std::uint64_t>, VertexArray<double>>
      distance_;
};

}  // namespace slimgraph::dgemini
