#include "slimgraph/session/internal/algorithm.h"

#include <cstring>
#include <functional>
#include <span>
#include <utility>

namespace slimgraph::internal {
namespace {

using dgemini::VertexArray;

// A built-in program on this node's engine.
class AlgorithmRun {
 public:
  AlgorithmRun(OpenGraph& graph, const Algorithm& algorithm)
      : graph_(graph),
        lists_(*graph.lists(algorithm.IgnoresDirections() && graph.file().directed())),
        algorithm_(algorithm),
        engine_(lists_.cluster(), lists_.work(), lists_.exchange(), dgemini::Mode::kAuto),
        bytes_before_(Bytes()) {}

  Result<AlgorithmValues> Run() {
    const auto& [what, seed, steps, source, ranks] = algorithm_.arguments;
    switch (what) {
      case Algorithm::kHops:
        return Gathered(dgemini::Bfs(engine_, source, steps));
      case Algorithm::kPaths:
        return Gathered(Paths(source));
      case Algorithm::kRanks:
        return Gathered(dgemini::PageRank(engine_, ranks).map([&](dgemini::PageRanks&& all) {
          change_ = all.change;
          return std::move(all.rank);
        }));
      case Algorithm::kComponents:
        return Gathered(Components());
      case Algorithm::kCentrality:
        return Gathered(dgemini::Centrality(engine_, algorithm_.sources));
      case Algorithm::kLabels:
        return Gathered(Labels(steps));
      case Algorithm::kCores:
        return Gathered(dgemini::CoreNumbers(engine_, IsSimple()));
      case Algorithm::kSet:
        return Gathered(dgemini::IndependentSet(engine_, *graph_.ids(), seed));
    }
    SLIM_CHECK(false, "a program of number {}", static_cast<std::uint32_t>(what));
    return AlgorithmValues();
  }

  Job& job() { return engine_.job(); }
  double change() const { return change_; }
  // Of all compute nodes since the beginning. Collective over them.
  Result<std::uint64_t> SumOfTraffic() {
    std::uint64_t bytes = Bytes() - bytes_before_;
    SLIM_TRY(engine_.Reduce(std::span(&bytes, 1), std::plus<std::uint64_t>()));
    return bytes;
  }

 private:
  std::uint64_t Bytes() const { return lists_.cluster().fabric().traffic().Total().bytes(); }

  // Brings the values to node 0.
  template <typename T>
  Result<AlgorithmValues> Gathered(Result<VertexArray<T>> values) {
    if (!values) return tl::unexpected<Error>(values.error());
    SLIM_TRY(engine_.Gather(*values));
    return AlgorithmValues(*std::move(values));
  }

  Result<VertexArray<double>> Paths(VertexId source) {
    SLIM_TRY(lists_.paths().Compute(engine_, source));
    auto distances = engine_.ShareValues<double>();
    engine_.ForEach([&](VertexId v) { distances[v] = lists_.paths().Distance(v); });
    return distances;
  }

  Result<VertexArray<std::uint64_t>> Components() {
    SLIM_ASSIGN(const auto smallest, dgemini::Components(engine_, graph_.file().directed()));
    const OriginalIds& ids = *graph_.ids();
    auto labels = engine_.ShareValues<std::uint64_t>();
    engine_.ForEach([&](VertexId v) { labels[v] = ids[smallest[v]]; });
    return labels;
  }

  Result<VertexArray<std::uint64_t>> Labels(std::uint64_t iterations) {
    const OriginalIds& ids = *graph_.ids();
    SLIM_ASSIGN(const auto found, dgemini::PropagateLabels(engine_, ids, iterations));
    auto labels = engine_.ShareValues<std::uint64_t>();
    engine_.ForEach([&](VertexId v) { labels[v] = ids[ids.InOrder(found.label[v])]; });
    return labels;
  }

  bool IsSimple() const {
    const GraphSource& file = graph_.file();
    return !file.directed() && !file.may_have_self_loops() && !file.may_have_duplicates();
  }

  OpenGraph& graph_;
  VertexLists& lists_;
  const Algorithm& algorithm_;
  dgemini::Engine engine_;
  double change_ = 0;
  const std::uint64_t bytes_before_;
};

dgemini::WorkloadNeeds EngineNeeds(Algorithm::What what) {
  constexpr auto kMode = dgemini::Mode::kAuto;
  switch (what) {
    case Algorithm::kHops:
      return dgemini::BfsNeeds(kMode);
    case Algorithm::kPaths:
      return dgemini::ShortestPaths::Needs(kMode);
    case Algorithm::kRanks:
      return dgemini::PageRankNeeds(kMode);
    case Algorithm::kComponents:
      return dgemini::ComponentsNeeds();
    case Algorithm::kCentrality:
      return dgemini::CentralityNeeds(kMode);
    case Algorithm::kLabels:
      return dgemini::LabelsNeeds(kMode);
    case Algorithm::kCores:
      return dgemini::CoresNeeds(kMode);
    case Algorithm::kSet:
      return dgemini::IndependentSetNeeds();
  }
  return {};
}

}  // namespace

// Bytes of one build are only read by the same build.
std::string Algorithm::ToBytes() const {
  static_assert(std::is_trivially_copyable_v<Arguments>);
  std::string bytes(sizeof(Arguments) + sources.size() * sizeof(VertexId), '\0');
  std::memcpy(bytes.data(), &arguments, sizeof arguments);
  if (!sources.empty()) {
    std::memcpy(bytes.data() + sizeof arguments, sources.data(), sources.size() * sizeof(VertexId));
  }
  return bytes;
}

Algorithm Algorithm::FromBytes(std::string_view bytes) {
  SLIM_CHECK(bytes.size() >= sizeof(Arguments), "a program of {} bytes", bytes.size());
  Algorithm algorithm;
  std::memcpy(&algorithm.arguments, bytes.data(), sizeof(Arguments));
  bytes.remove_prefix(sizeof(Arguments));
  algorithm.sources.resize(bytes.size() / sizeof(VertexId));
  if (!bytes.empty()) std::memcpy(algorithm.sources.data(), bytes.data(), bytes.size());
  return algorithm;
}

VertexRequest Algorithm::Needs(bool directed) const {
  const dgemini::WorkloadNeeds needs = EngineNeeds(arguments.what);
  VertexRequest request;
  request.weights = needs.weights;
  request.pull_in = needs.pull_in;
  request.pull_out = needs.pull_out;
  request.paths = arguments.what == kPaths;
  request.both = directed && IgnoresDirections();
  request.vertex_bytes = needs.vertex_bytes;
  request.share_bytes = needs.share_bytes;
  request.list_bytes = needs.list_bytes;
  return request;
}

Result<AlgorithmValues> RunAlgorithm(OpenGraph& graph, const Algorithm& algorithm,
                                     AlgorithmFigures* figures) {
  AlgorithmRun run(graph, algorithm);
  auto values = run.Run();
  run.job().ForgetProgress();
  if (!values) return values;
  SLIM_ASSIGN(const std::uint64_t bytes, run.SumOfTraffic());
  if (figures != nullptr) *figures = {.change = run.change(), .traffic_bytes = bytes};
  return values;
}

}  // namespace slimgraph::internal
