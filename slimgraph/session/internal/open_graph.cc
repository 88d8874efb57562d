#include "slimgraph/session/internal/open_graph.h"

#include <utility>

#include "slimgraph/files/both_directions.h"
#include "slimgraph/session/internal/algorithm.h"
#include "slimgraph/session/internal/mining.h"

namespace slimgraph::internal {

ClusterOptions ClusterRequest::Options() const {
  return {.compute = compute,
          .threads = threads,
          .transport = transport,
          .network = network,
          .qps_per_peer = 1,
          .serving_threads = 0};
}

Result<std::unique_ptr<VertexLists>> VertexLists::Load(Job& job, const SlimFile& file,
                                                       const VertexRequest& request) {
  std::unique_ptr<VertexLists> lists(new VertexLists(request));
  if (request.paths) SLIM_TRY(lists->paths_.Prepare(file));
  std::optional<BothDirections> both;
  if (request.both) {
    SLIM_ASSIGN(both, BothDirections::Of(file));
  }
  const GraphSource& source = both ? static_cast<const GraphSource&>(*both) : file;
  SLIM_ASSIGN(lists->cluster_, Cluster::Start(job, request.cluster.Options()));
  Cluster& cluster = *lists->cluster_;
  lists->exchange_ = std::make_unique<dgemini::Exchange>(cluster);
  const auto announce = [&](MemoryPlan& plan) {
    for (std::uint64_t& bytes : plan.node_bytes) bytes += file.original_id_bytes();
    // Node 0 gathers the results.
    plan.node_bytes[0] += static_cast<std::uint64_t>(request.vertex_bytes * file.vertices());
  };
  SLIM_ASSIGN(lists->work_, dgemini::Workload::Load(cluster, source,
                                                    {.weights = request.weights,
                                                     .pull_in = request.pull_in,
                                                     .pull_out = request.pull_out,
                                                     .vertex_bytes = request.vertex_bytes,
                                                     .share_bytes = request.share_bytes,
                                                     .list_bytes = request.list_bytes,
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
  return std::unique_ptr<OpenGraph>(new OpenGraph(std::move(file), std::move(ids)));
}

Result<Refusal> OpenGraph::LoadVertexLists(Job& job, const VertexRequest& request) {
  auto& lists = lists_[request.both ? 1 : 0];
  if (lists) SLIM_TRY(std::exchange(lists, nullptr)->Unload());
  SLIM_ASSIGN(lists, VertexLists::Load(job, file_, request));
  return lists->refusal();
}

Status OpenGraph::Unload() {
  for (auto& lists : lists_) {
    if (lists) SLIM_TRY(std::exchange(lists, nullptr)->Unload());
  }
  return {};
}

// A new layout of the same size needs a new number.
std::string VersionOfCalls() {
  return fmt::format("session 2 {} {} {}", sizeof(VertexRequest), sizeof(MiningRequest),
                     sizeof(Algorithm::Arguments));
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
    SLIM_TRY(graph->second->Unload());
    graphs.erase(graph);
  }
  return {};
}

}  // namespace slimgraph::internal
