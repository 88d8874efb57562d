#include "slimgraph/session/internal/mining.h"

#include "dkudu/formula.h"

namespace slimgraph::internal {
namespace {

// Where D-Kudu's plans and functions meet for one request.
class MiningRun {
 public:
  MiningRun(const MiningRequest& request, const OriginalIds& ids, const MiningSinks& sinks)
      : request_(request), ids_(ids), sinks_(sinks) {}

  Status Prepare() {
    if (request_.what == MiningRequest::kLocal) return {};
    SLIM_ASSIGN(auto pattern, request_.MakePattern());
    pattern_ = std::move(pattern);
    if (request_.what == MiningRequest::kCount) {
      formula_ = dkudu::FormulaFor(*pattern_, request_.induced);
    }
    return {};
  }

  dkudu::ListPart part() const { return formula_ ? formula_->part() : dkudu::ListPart::kAll; }

  std::uint64_t Bytes(const dkudu::MiningGraph& graph, const dkudu::MiningOptions& options) const {
    if (request_.what == MiningRequest::kLocal) return dkudu::LocalBytes(graph, options);
    if (formula_) return formula_->Bytes(graph, options);
    return dkudu::MatchBytes(graph, options, PlanFor(graph));
  }

  Result<std::uint64_t> Run(dkudu::MiningJob& job) const {
    if (request_.what == MiningRequest::kLocal) {
      SLIM_ASSIGN(const auto counts, dkudu::CountLocal(job));
      if (job.cluster.self() == 0) SLIM_TRY(counts.ForEach(ids_, sinks_.local));
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

Result<std::uint64_t> Mine(Job& job, const GraphSource& file, const OriginalIds& ids,
                           const MiningRequest& request, const MiningSinks& sinks) {
  MiningRun run(request, ids, sinks);
  SLIM_TRY(run.Prepare());
  ClusterOptions options = request.cluster.Options();
  options.serving_threads = 1;
  SLIM_ASSIGN(const auto cluster, Cluster::Start(job, options));
  const auto working = [&](const dkudu::MiningGraph& graph) {
    const auto bytes = [&](const dkudu::MiningGraph& of, const dkudu::MiningOptions& with) {
      return run.Bytes(of, with) + OriginalIdBytes(file);
    };
    return dkudu::WorkingMemoryOf(graph, request.options, *cluster, bytes);
  };
  SLIM_ASSIGN(const auto graph, dkudu::MiningGraph::Load(*cluster, file, run.part(), working,
                                                         [](const MemoryPlan&) {}));
  SLIM_ASSIGN(const auto lists,
              dkudu::ListExchange::Start(*cluster, *graph, request.options.fetch));
  std::vector<StageSeconds> seconds(options.threads);
  dkudu::MiningJob mining{*cluster, *graph, *lists, request.options, seconds};
  const auto count = run.Run(mining);
  // All nodes refuse the same options at the same point, so they can part in order.
  if (!count && count.error().kind != ErrorKind::kUsage) return count;
  SLIM_TRY(lists->Stop());
  SLIM_TRY(cluster->Stop());
  return count;
}

Status MineOnMemoryNode(Job& job, const GraphSource& file, const Call& call) {
  const auto mined = Mine(job, file, {}, call.RequestAs<MiningRequest>(), {});
  if (!mined && mined.error().kind != ErrorKind::kUsage)
    return tl::unexpected<Error>(mined.error());
  return {};
}

}  // namespace slimgraph::internal
