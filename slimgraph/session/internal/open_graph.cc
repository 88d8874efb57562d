#include "slimgraph/session/internal/open_graph.h"

#include "slimgraph/session/internal/mining.h"
#include "slimgraph/session/internal/open_store.h"

namespace slimgraph::internal {

ClusterOptions ClusterRequest::Options() const {
  return {.compute = compute,
          .threads = threads,
          .transport = transport,
          .network = network,
          .qps_per_peer = 1,
          .serving_threads = 0};
}

std::uint64_t OriginalIdBytes(const GraphSource& graph) {
  const auto* const file = dynamic_cast<const SlimFile*>(&graph);
  return file != nullptr ? file->original_id_bytes() : graph.vertices() * sizeof(std::uint64_t);
}

Result<std::unique_ptr<VertexLists>> VertexLists::Load(Job& job, const GraphSource& file,
                                                       const VertexRequest& request) {
  std::unique_ptr<VertexLists> lists(new VertexLists(request));
  if (request.paths) SLIM_TRY(lists->paths_.Prepare(file));
  SLIM_ASSIGN(lists->cluster_, Cluster::Start(job, request.cluster.Options()));
  Cluster& cluster = *lists->cluster_;
  lists->exchange_ = std::make_unique<dgemini::Exchange>(cluster);
  const auto announce = [&](MemoryPlan& plan) {
    for (std::uint64_t& bytes : plan.node_bytes) bytes += OriginalIdBytes(file);
    // Node 0 gathers the results.
    plan.node_bytes[0] += static_cast<std::uint64_t>(request.vertex_bytes * file.vertices());
  };
  SLIM_ASSIGN(lists->work_, dgemini::Workload::Load(cluster, file,
                                                    {.weights = request.weights,
                                                     .pull_in = request.pull_in,
                                                     .pull_out = request.pull_out,
                                                     .vertex_bytes = request.vertex_bytes,
                                                     .share_bytes = request.share_bytes,
                                                     .cache = request.cluster.cache},
                                                    announce));
  if (request.paths) {
    const Status suits = lists->paths_.Examine(cluster, *lists->work_, std::nullopt);
    // All nodes know the range of all weights.
    if (!suits && suits.error().kind != ErrorKind::kInput) {
      return tl::unexpected<Error>(suits.error());
    }
    if (!suits) lists->refusal_ = suits.error();
    lists->request_.paths = suits.has_value();
  }
  SLIM_TRY(cluster.all().Barrier());
  return lists;
}

Result<std::unique_ptr<OpenGraph>> OpenGraph::Open(const std::string& path, bool with_ids) {
  SLIM_ASSIGN(SlimFile file, SlimFile::Open(path));
  OriginalIds ids;
  if (with_ids) {
    SLIM_ASSIGN(ids, file.ReadOriginalIds());
  }
  return std::unique_ptr<OpenGraph>(
      new OpenGraph(std::make_unique<SlimFile>(std::move(file)), std::move(ids)));
}

std::unique_ptr<OpenGraph> OpenGraph::Hold(std::unique_ptr<GraphSource> source, OriginalIds ids,
                                           std::function<Status()> release) {
  std::unique_ptr<OpenGraph> graph(new OpenGraph(std::move(source), std::move(ids)));
  graph->release_ = std::move(release);
  return graph;
}

Result<Refusal> OpenGraph::LoadVertexLists(Job& job, const VertexRequest& request) {
  SLIM_TRY(Unload());
  SLIM_ASSIGN(lists_, VertexLists::Load(job, *file_, request));
  return lists_->refusal();
}

Status OpenGraph::Unload() {
  if (!lists_) return {};
  const auto lists = std::move(lists_);
  return lists->Unload();
}

Status OpenGraph::Close() {
  SLIM_TRY(Unload());
  return release_ ? release_() : Status();
}

// A new layout of the same size needs a new number.
std::string VersionOfCalls() {
  return fmt::format("session 2 {} {} {}", sizeof(VertexRequest), sizeof(MiningRequest),
                     sizeof(StoreRequest));
}

Result<Refusal> DoOnEveryNode(Job& job, const Call& call, OpenGraphs& graphs, bool computes) {
  SLIM_TRY(DropGraphs(call.dropped, graphs));
  if (call.task == Task::kOpen) {
    auto opened = OpenGraph::Open(call.path, computes);
    const Status all = AgreeOnStatus(job, opened ? Status{} : Status(tl::unexpect, opened.error()));
    if (!all && !job.all_alive()) return tl::unexpected<Error>(all.error());
    if (!all) return all.error();
    graphs[call.graph] = std::move(*opened);
  } else if (call.task == Task::kLoadVertexLists) {
    return graphs.at(call.graph)->LoadVertexLists(job, call.RequestAs<VertexRequest>());
  }
  return Refusal();
}

Status DropGraphs(const std::vector<std::uint64_t>& dropped, OpenGraphs& graphs) {
  for (const std::uint64_t number : dropped) {
    const auto graph = graphs.find(number);
    if (graph == graphs.end()) continue;
    SLIM_TRY(graph->second->Close());
    graphs.erase(graph);
  }
  return {};
}

}  // namespace slimgraph::internal
