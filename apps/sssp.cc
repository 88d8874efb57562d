#include "dgemini/sssp.h"

#include <cmath>
#include <variant>

#include "apps/vertex_commands.h"
#include "apps/vertex_job.h"
#include "dgemini/serial.h"

namespace slimgraph {
namespace {

template <typename Weight>
void Widen(Bytes weights, std::array<double, 2>& range) {
  for (std::size_t at = 0; at < weights.size(); at += sizeof(Weight)) {
    Weight weight;
    std::memcpy(&weight, weights.data() + at, sizeof weight);
    range[0] = std::min(range[0], static_cast<double>(weight));
    range[1] = std::max(range[1], static_cast<double>(weight));
  }
}

class SsspApplication : public VertexApplication {
 public:
  void Declare(Options& options) {
    options.Number("--source", "V", "where the paths start", source_id_);
    options.Number("--delta", "D", "the width of a bucket of distances (default by the weights)",
                   delta_);
  }

  Status Prepare(const GraphSource& file, const OriginalIds& ids) override {
    if (!source_id_) return UsageError("sssp needs --source V");
    if (delta_ && !(*delta_ > 0)) return UsageError("--delta {} is not positive", *delta_);
    type_ = file.weight_type();
    if (type_ == WeightType::kNone) {
      return InputError("{} has no weights, which sssp needs: convert it with --weighted",
                        file.path());
    }
    path_ = file.path();
    vertices_ = file.vertices();
    degree_ = static_cast<double>(file.arcs()) / std::max<double>(1, vertices_);
    SLIM_ASSIGN(source_, FindVertex(ids, *source_id_));
    return {};
  }
  WorkloadNeeds Needs(Mode mode) const override {
    return {
        .weights = true, .pull_in = mode != Mode::kPush, .vertex_bytes = 8.5, .share_bytes = 16};
  }

  Status Examine(Cluster& cluster, const Workload& work) override {
    std::array<double, 2> range = {INFINITY, 0};  // the least and the greatest weight
    for (const Bytes weights : work.own_weights()) {
      if (type_ == WeightType::kInt32) Widen<std::int32_t>(weights, range);
      if (type_ == WeightType::kInt64) Widen<std::int64_t>(weights, range);
      if (type_ == WeightType::kFloat32) Widen<float>(weights, range);
      if (type_ == WeightType::kFloat64) Widen<double>(weights, range);
    }
    range[0] = -range[0];
    SLIM_TRY(cluster.all().AllReduce(std::span<double>(range),
                                     [](double a, double b) { return std::max(a, b); }));
    if (range[0] > 0) {
      return InputError("{} has a negative weight, {}: sssp takes none", path_, -range[0]);
    }
    longest_ = range[1] * vertices_;
    if (type_ == WeightType::kInt64 && longest_ >= 0x1p63) {
      return InputError("{}: paths of weights up to {} can be longer than 2^63", path_, range[1]);
    }
    if (!delta_) delta_ = std::max(range[1] / std::max(1.0, degree_), range[1] * 1e-6);
    return {};
  }

  Status Compute(Engine& engine) override {
    const bool whole = type_ == WeightType::kInt32 || type_ == WeightType::kInt64;
    const double delta = whole ? std::max(1.0, std::ceil(*delta_)) : (*delta_ > 0 ? *delta_ : 1.0);
    switch (type_) {
      case WeightType::kInt32:
        if (longest_ + 2 * delta < 0x1p32) {
          return Keep(Sssp<std::int32_t>(engine, source_, static_cast<std::uint32_t>(delta)));
        }
        return Keep(Sssp<std::int32_t>(engine, source_, static_cast<std::uint64_t>(delta)));
      case WeightType::kInt64:
        return Keep(Sssp<std::int64_t>(engine, source_, static_cast<std::uint64_t>(delta)));
      case WeightType::kFloat32:
        return Keep(Sssp<float>(engine, source_, delta));
      default:
        return Keep(Sssp<double>(engine, source_, delta));
    }
  }
  Status Gather(Engine& engine) override {
    return std::visit([&](auto& distance) { return engine.Gather(distance); }, distance_);
  }

  Status Describe(Engine& engine, Run& run) override {
    SLIM_ASSIGN(const double reached,
                engine.Sum([&](VertexId v) { return std::isinf(Distance(v)) ? 0.0 : 1.0; }));
    double farthest = 0;
    for (VertexId v = 0; v < engine.vertices(); ++v) {
      if (engine.mine(v) && !std::isinf(Distance(v))) farthest = std::max(farthest, Distance(v));
    }
    SLIM_TRY(
        engine.Reduce(std::span(&farthest, 1), [](double a, double b) { return std::max(a, b); }));
    run.report.Set("/options/source", *source_id_);
    run.report.Set("/options/delta", *delta_);
    run.report.Set("/result/reached", static_cast<std::uint64_t>(reached));
    run.report.Set("/result/farthest", farthest);
    run.text += fmt::format("from {}: {:.0f} vertices reached, the farthest at {}\n", *source_id_,
                            reached, farthest);
    return {};
  }

  Status Verify(const Csr& out_lists) override {
    const auto expected = serial::Sssp(out_lists, source_);
    for (VertexId v = 0; v < expected.size(); ++v) {
      if (Distance(v) == expected[v]) continue;
      if (std::abs(Distance(v) - expected[v]) <= 1e-9 * expected[v]) continue;
      return VerificationError("the distance of vertex {} (counted from 0) is {}, not {}", v,
                               Distance(v), expected[v]);
    }
    return {};
  }

  void Print(VertexId v, std::string& line) const override {
    const bool real = std::holds_alternative<VertexArray<double>>(distance_);
    const double distance = Distance(v);
    if (std::isinf(distance)) {
      line += "Infinity";
    } else if (real) {
      fmt::format_to(std::back_inserter(line), "{:.15e}", distance);
    } else {
      std::visit([&](const auto& d) { fmt::format_to(std::back_inserter(line), "{}", d[v]); },
                 distance_);
    }
  }

 private:
  // Infinity where no path leads.
  double Distance(VertexId v) const {
    return std::visit(
        [&](const auto& d) {
          using T = std::remove_cvref_t<decltype(d[v])>;
          return d[v] == kUnreachable<T> ? INFINITY : static_cast<double>(d[v]);
        },
        distance_);
  }
  template <typename Distance>
  Status Keep(Result<VertexArray<Distance>> result) {
    SLIM_ASSIGN(distance_, std::move(result));
    return {};
  }

  std::optional<std::uint64_t> source_id_;
  std::optional<double> delta_;
  VertexId source_ = 0;
  VertexId vertices_ = 0;
  double degree_ = 0;
  double longest_ = 0;  // that a path can be
  WeightType type_ = WeightType::kNone;
  std::string path_;
  std::variant<VertexArray<std::uint32_t>, VertexArray<std::uint64_t>, VertexArray<double>>
      distance_;
};

}  // namespace

Command SsspCommand() {
  return VertexCommand<SsspApplication>("sssp", "the lengths of the shortest paths from a source");
}

}  // namespace slimgraph
