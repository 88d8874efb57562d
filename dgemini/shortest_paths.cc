#include "dgemini/shortest_paths.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace slimgraph::dgemini {

Status ShortestPaths::Prepare(const GraphSource& file) {
  type_ = file.weight_type();
  if (type_ == WeightType::kNone) {
    return InputError(
        "{} has no weights, which sssp needs: --unit-weights gives each edge the length 1; if the "
        "file that it was made from has weights, convert that again, with --weighted",
        file.path());
  }
  path_ = file.path();
  vertices_ = file.vertices();
  degree_ = static_cast<double>(file.arcs()) / std::max<double>(1, vertices_);
  return {};
}

Status ShortestPaths::Examine(Cluster& cluster, const Workload& work, std::optional<double> delta) {
  const WeightRange mine = work.OwnWeightRange(type_);
  double range[] = {-mine.least, mine.most};
  SLIM_TRY(cluster.all().AllReduce(std::span<double>(range),
                                   [](double a, double b) { return std::max(a, b); }));
  if (range[0] > 0) {
    return InputError("{} has a negative weight, {}: sssp takes none", path_, -range[0]);
  }
  longest_ = range[1] * vertices_;
  if (type_ == WeightType::kInt64 && longest_ >= 0x1p63) {
    return InputError("{}: paths of weights up to {} can be longer than 2^63", path_, range[1]);
  }
  widens_ = !delta;
  delta_ = delta.value_or(std::max(range[1] / std::max(1.0, degree_), range[1] * 1e-6));
  return {};
}

Status ShortestPaths::Compute(Engine& engine, VertexId source) {
  const bool whole = type_ == WeightType::kInt32 || type_ == WeightType::kInt64;
  // A bucket as wide as the longest path contains all distances. A wider one would change nothing,
  // and might overflow the number type.
  const double width = std::min(delta_, longest_);
  const double delta = whole ? std::max(1.0, std::ceil(width)) : (width > 0 ? width : 1.0);
  // How much wider buckets may become.
  constexpr double kMostWidening = 16;
  const double widest =
      widens_ ? std::min(kMostWidening * delta, std::max(delta, longest_)) : delta;
  const auto run = [&]<typename Weight, typename Length>(Weight, Length) {
    return Keep(
        Sssp<Weight>(engine, source, static_cast<Length>(delta), static_cast<Length>(widest)));
  };
  switch (type_) {
    case WeightType::kInt32:
      if (longest_ + 2 * widest < 0x1p32) return run(std::int32_t{}, std::uint32_t{});
      return run(std::int32_t{}, std::uint64_t{});
    case WeightType::kInt64:
      return run(std::int64_t{}, std::uint64_t{});
    case WeightType::kFloat32:
      return run(float{}, double{});
    default:
      return run(double{}, double{});
  }
}

double ShortestPaths::Distance(VertexId v) const {
  return std::visit(
      [&](const auto& d) {
        using T = std::remove_cvref_t<decltype(d[v])>;
        return d[v] == kUnreachable<T> ? INFINITY : static_cast<double>(d[v]);
      },
      distance_);
}

Result<ShortestPaths::Reach> ShortestPaths::FindReach(Engine& engine) const {
  Reach reach;
  SLIM_ASSIGN(reach.vertices,
              engine.Sum([&](VertexId v) { return std::isinf(Distance(v)) ? 0.0 : 1.0; }));
  for (VertexId v = 0; v < engine.vertices(); ++v) {
    if (!engine.mine(v) || std::isinf(Distance(v))) continue;
    reach.farthest = std::max(reach.farthest, Distance(v));
  }
  SLIM_TRY(engine.Reduce(std::span(&reach.farthest, 1),
                         [](double a, double b) { return std::max(a, b); }));
  return reach;
}

}  // namespace slimgraph::dgemini
