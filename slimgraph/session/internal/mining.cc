#include "slimgraph/session/internal/mining.h"

#include <cstring>
#include <utility>

#include "dkudu/formula.h"
#include "slimgraph/graph/shared_graph.h"

namespace slimgraph::internal {
namespace {

constexpr std::uint64_t kBytesOfEdge = 24;  // of a result with a value for each edge

// Where D-Kudu's plans and functions meet for one request.
class MiningRun {
 public:
  MiningRun(const MiningRequest& request, const OriginalIds& ids, const MiningSinks& sinks)
      : request_(request), ids_(ids), sinks_(sinks) {}

  Status Prepare() {
    if (!HasPattern()) return {};
    SLIM_ASSIGN(auto pattern, request_.MakePattern());
    pattern_ = std::move(pattern);
    if (request_.what == MiningRequest::kCount) {
      formula_ = dkudu::FormulaFor(*pattern_, request_.induced);
    }
    return {};
  }

  dkudu::ListPart part(const GraphSource& file) const {
    if (file.directed()) return dkudu::ListPart::kArcs;
    return formula_ ? formula_->part() : dkudu::ListPart::kAll;
  }

  std::uint64_t Bytes(const dkudu::MiningGraph& graph, const dkudu::MiningOptions& options) const {
    if (request_.what == MiningRequest::kLocal) return dkudu::LocalBytes(graph, options);
    if (request_.what == MiningRequest::kTruss) {
      const std::uint64_t edges = graph.self() == 0 ? graph.sums().arcs / 2 : 0;
      return dkudu::TrussBytes(graph, options) + edges * kBytesOfEdge;
    }
    if (formula_) return formula_->Bytes(graph, options);
    return dkudu::MatchBytes(graph, options, PlanFor(graph));
  }

  // For each entry of a node's lists.
  std::uint64_t EntryBytes() const {
    return request_.what == MiningRequest::kTruss ? dkudu::kTrussBytesPerArc : 0;
  }

  Result<std::uint64_t> Run(dkudu::MiningJob& job) const {
    if (request_.what == MiningRequest::kLocal) {
      SLIM_ASSIGN(const auto counts, dkudu::CountLocal(job));
      if (job.cluster.self() == 0) SLIM_TRY(counts.ForEach(ids_, sinks_.local));
      return 0;
    }
    if (request_.what == MiningRequest::kTruss) {
      SLIM_ASSIGN(const auto trussness, dkudu::ComputeTrussness(job));
      if (job.cluster.self() != 0) return 0;
      sinks_.edges(trussness.EdgesOfTruss(0));
      SLIM_TRY(trussness.ForEach(job, ids_, sinks_.edge));
      return 0;
    }
    if (formula_) return dkudu::CountByFormula(job, *formula_);
    const dkudu::Plan plan = PlanFor(job.graph);
    if (request_.what == MiningRequest::kCount) return dkudu::CountMatches(job, plan);
    return dkudu::ListMatches(job, plan, [&](std::uint32_t thread) -> dkudu::EmbeddingSink {
      return [this, &graph = job.graph, thread](std::span<const VertexId> ranks) -> Result<bool> {
        std::array<VertexId, dkudu::kMaxPatternVertices> dense;
        for (std::size_t i = 0; i < ranks.size(); ++i) dense[i] = graph.dense(ranks[i]);
        return sinks_.embedding(thread, std::span(dense).first(ranks.size()));
      };
    });
  }

 private:
  bool HasPattern() const {
    return request_.what == MiningRequest::kCount || request_.what == MiningRequest::kVisit;
  }

  dkudu::Plan PlanFor(const dkudu::MiningGraph& graph) const {
    return dkudu::CompilePlan(*pattern_, request_.induced, dkudu::FiguresOf(graph),
                              request_.what == MiningRequest::kVisit);
  }

  const MiningRequest& request_;
  const OriginalIds& ids_;
  const MiningSinks& sinks_;
  std::optional<dkudu::Pattern> pattern_;
  std::optional<dkudu::Formula> formula_;
};

}  // namespace

void MiningRequest::SetPattern(const dkudu::Pattern& pattern) {
  vertices = pattern.size();
  for (unsigned v = 0; v < pattern.size(); ++v) rows[v] = pattern.neighbours(v);
}

Result<dkudu::Pattern> MiningRequest::MakePattern() const {
  std::vector<dkudu::Pattern::Edge> edges;
  for (unsigned v = 0; v < vertices; ++v) {
    for (unsigned u = v + 1; u < vertices; ++u) {
      if (dkudu::Has(rows[v], u)) edges.emplace_back(v, u);
    }
  }
  return dkudu::Pattern::Make(edges, "pattern");
}

Result<std::variant<std::unique_ptr<MiningLists>, Error>> MiningLists::Load(
    Job& job, const GraphSource& file, const ClusterRequest& request, dkudu::ListPart part,
    const WorkingMemoryOf& working, const dkudu::MiningOptions& options) {
  std::unique_ptr<MiningLists> lists(new MiningLists);
  ClusterOptions cluster_options = request.Options();
  cluster_options.serving_threads = 1;
  SLIM_ASSIGN(lists->cluster_, Cluster::Start(job, cluster_options));
  Cluster& cluster = *lists->cluster_;
  auto graph = dkudu::MiningGraph::Load(
      cluster, file, part,
      [&](const dkudu::MiningGraph& measured) { return working(measured, cluster); },
      [](const MemoryPlan&) {});
  if (!graph) {
    if (!cluster.refused()) return tl::unexpected<Error>(graph.error());
    SLIM_TRY(cluster.Stop());
    return std::variant<std::unique_ptr<MiningLists>, Error>(graph.error());
  }
  lists->graph_ = *std::move(graph);
  SLIM_ASSIGN(lists->lists_, dkudu::ListExchange::Start(cluster, *lists->graph_, options.fetch));
  lists->seconds_.resize(request.threads);
  lists->job_.emplace(
      dkudu::MiningJob{cluster, *lists->graph_, *lists->lists_, options, lists->seconds_});
  return lists;
}

Status MiningLists::Unload() {
  SLIM_TRY(lists_->Stop());
  return cluster_->Stop();
}

bool MiningLists::Contains(dkudu::ListPart part) const {
  return graph_->part() == part ||
         (graph_->part() == dkudu::ListPart::kAll && part == dkudu::ListPart::kUpper);
}

// The memory of earlier calls that this one can use again counts twice, so a call may be refused
// that would fit. The caller then loads the graph again, which finds out exactly.
Result<bool> MiningLists::HasRoomFor(const WorkingMemoryOf& working) {
  const std::uint64_t mine = working(*graph_, *cluster_).own_bytes;
  SLIM_ASSIGN(const auto all, cluster_->all().AllGather(std::as_bytes(std::span(&mine, 1))));
  MemoryPlan plan;
  for (const auto& bytes : all) {
    std::memcpy(&plan.node_bytes.emplace_back(), bytes.data(), sizeof mine);
  }
  const Status fits = AgreeThatFits(*cluster_, plan);
  if (!fits && !cluster_->refused()) return tl::unexpected<Error>(fits.error());
  return fits.has_value();
}

namespace {

// Loads the graph, unless what is loaded suffices. If memory does not, makes room, and tries again.
Result<Refusal> LoadToMine(Job& job, OpenGraphs& graphs, OpenGraph& graph,
                           const MiningRequest& request, const MiningRun& run) {
  const GraphSource& file = graph.file();
  const auto working = [&](const dkudu::MiningGraph& loaded, const Cluster& cluster) {
    const auto bytes = [&](const dkudu::MiningGraph& of, const dkudu::MiningOptions& with) {
      return run.Bytes(of, with) + OriginalIdBytes(file);
    };
    return dkudu::WorkingMemoryOf(loaded, request.options, cluster, bytes, run.EntryBytes());
  };
  const dkudu::ListPart part = run.part(file);
  auto& lists = graph.mining();
  if (lists && lists->Contains(part)) {
    SLIM_ASSIGN(const bool has_room, lists->HasRoomFor(working));
    if (has_room) return Refusal();
  }
  if (lists) SLIM_TRY(std::exchange(lists, nullptr)->Unload());
  for (const bool again : {false, true}) {
    SLIM_ASSIGN(auto loaded,
                MiningLists::Load(job, file, request.cluster, part, working, request.options));
    if (auto* const all = std::get_if<std::unique_ptr<MiningLists>>(&loaded)) {
      lists = std::move(*all);
      break;
    }
    if (again) return std::get<Error>(loaded);
    SLIM_TRY(UnloadAll(graphs));
  }
  return Refusal();
}

}  // namespace

Result<Mined> Mine(Job& job, OpenGraphs& graphs, std::uint64_t graph, const MiningRequest& request,
                   const MiningSinks& sinks) {
  OpenGraph& open = *graphs.at(graph);
  MiningRun run(request, *open.ids(), sinks);
  SLIM_TRY(run.Prepare());
  SLIM_ASSIGN(Refusal refusal, LoadToMine(job, graphs, open, request, run));
  if (refusal) return Mined{.refusal = std::move(refusal)};
  dkudu::MiningJob& mining = open.mining()->job();
  mining.options = request.options;
  const Fabric& fabric = mining.cluster.fabric();
  const std::uint64_t before = fabric.traffic().Total().bytes();
  const auto count = run.Run(mining);
  job.ForgetProgress();
  if (count) {
    std::uint64_t bytes = fabric.traffic().Total().bytes() - before;
    const auto add = std::plus<std::uint64_t>();
    SLIM_TRY(mining.cluster.all().AllReduce(std::span(&bytes, 1), add));
    return Mined{.refusal = {}, .traffic_bytes = bytes, .matches = *count};
  }
  // All nodes refuse the same options at the same point.
  if (count.error().kind == ErrorKind::kUsage) return Mined{.refusal = count.error()};
  open.mining().reset();
  return tl::unexpected<Error>(count.error());
}

Status MineForNode0(Job& job, OpenGraphs& graphs, const Call& call) {
  SLIM_TRY(Mine(job, graphs, call.graph, call.RequestAs<MiningRequest>(), {}));
  return {};
}

}  // namespace slimgraph::internal
