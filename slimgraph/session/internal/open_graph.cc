#include "slimgraph/session/internal/open_graph.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "slimgraph/files/both_directions.h"
#include "slimgraph/remote/standing_graph.h"
#include "slimgraph/session/internal/algorithm.h"
#include "slimgraph/session/internal/mining.h"
#include "slimgraph/session/internal/open_store.h"

namespace slimgraph::internal {

ClusterOptions ClusterRequest::Options() const {
  return {.compute = compute,
          .threads = threads,
          .transport = transport,
          .network = network,
          .qps_per_peer = 1,
          .serving_threads = 0,
          .in_place = InPlaceBy(cache.access, cache.host_of)};
}

std::uint64_t OriginalIdBytes(const GraphSource& graph) {
  const auto* const file = dynamic_cast<const SlimFile*>(&graph);
  return file != nullptr ? file->original_id_bytes() : graph.vertices() * sizeof(std::uint64_t);
}

Result<std::unique_ptr<VertexLists>> VertexLists::Load(Job& job, const GraphSource& file,
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
    for (std::uint64_t& bytes : plan.node_bytes) bytes += OriginalIdBytes(file);
    // Node 0 gathers the results.
    plan.node_bytes[0] += static_cast<std::uint64_t>(request.vertex_bytes * file.vertices());
  };
  auto work = dgemini::Workload::Load(cluster, source,
                                      {.weights = request.weights,
                                       .pull_in = request.pull_in,
                                       .pull_out = request.pull_out,
                                       .vertex_bytes = request.vertex_bytes,
                                       .share_bytes = request.share_bytes,
                                       .list_bytes = request.list_bytes,
                                       .cache = request.cluster.cache},
                                      announce);
  if (!work) {
    if (!cluster.refused()) return tl::unexpected<Error>(work.error());
    lists->refusal_ = work.error();
    SLIM_TRY(cluster.Stop());
    return lists;
  }
  lists->work_ = *std::move(work);
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

OpenGraph::OpenGraph(std::unique_ptr<GraphSource> file, OriginalIds ids)
    : file_(std::move(file)), ids_(std::make_shared<const OriginalIds>(std::move(ids))) {}
OpenGraph::~OpenGraph() = default;

Result<std::unique_ptr<OpenGraph>> OpenGraph::Open(const std::string& path,
                                                   const std::string& shown, bool with_ids) {
  SLIM_ASSIGN(SlimFile file, SlimFile::Open(path, shown));
  OriginalIds ids;
  if (with_ids) {
    SLIM_ASSIGN(ids, file.ReadOriginalIds());
  }
  return std::unique_ptr<OpenGraph>(
      new OpenGraph(std::make_unique<SlimFile>(std::move(file)), std::move(ids)));
}

// The graph gets its own descriptors, so that it can be opened again.
Result<std::unique_ptr<OpenGraph>> OpenGraph::OpenStanding(
    const std::string& facts, std::span<const std::unique_ptr<SharedMemory>> memories,
    bool with_ids) {
  std::vector<std::unique_ptr<SharedMemory>> own;
  for (const auto& memory : memories) {
    SLIM_ASSIGN(own.emplace_back(), SharedMemory::Adopt(UniqueFd(::dup(memory->fd()))));
  }
  SLIM_ASSIGN(auto standing, StandingGraph::Open(facts, std::move(own)));
  OriginalIds ids;
  if (with_ids) {
    SLIM_ASSIGN(ids, standing->ReadOriginalIds());
  }
  return std::unique_ptr<OpenGraph>(new OpenGraph(std::move(standing), std::move(ids)));
}

std::unique_ptr<OpenGraph> OpenGraph::Hold(std::unique_ptr<GraphSource> source, OriginalIds ids,
                                           std::function<Status()> release) {
  std::unique_ptr<OpenGraph> graph(new OpenGraph(std::move(source), std::move(ids)));
  graph->release_ = std::move(release);
  return graph;
}

Result<Refusal> OpenGraph::LoadVertexLists(Job& job, const VertexRequest& request) {
  auto& lists = lists_[request.both ? 1 : 0];
  if (lists) SLIM_TRY(std::exchange(lists, nullptr)->Unload());
  SLIM_ASSIGN(auto loaded, VertexLists::Load(job, *file_, request));
  const Refusal refusal = loaded->refusal();
  if (loaded->loaded()) lists = std::move(loaded);
  return refusal;
}

Status OpenGraph::Unload() {
  for (auto& lists : lists_) {
    if (lists) SLIM_TRY(std::exchange(lists, nullptr)->Unload());
  }
  if (mining_) SLIM_TRY(std::exchange(mining_, nullptr)->Unload());
  return {};
}

Status OpenGraph::Close() {
  SLIM_TRY(Unload());
  return release_ ? release_() : Status();
}

// A new layout of the same size needs a new number.
std::string VersionOfCalls() {
  return fmt::format("session 4 {} {} {} {}", sizeof(VertexRequest), sizeof(MiningRequest),
                     sizeof(Algorithm::Arguments), sizeof(StoreRequest));
}

Result<Refusal> DoOnEveryNode(Job& job, const Call& call, OpenGraphs& graphs,
                              std::span<const std::unique_ptr<SharedMemory>> standing,
                              bool computes) {
  SLIM_TRY(DropGraphs(call.dropped, graphs));
  if (call.task == Task::kOpen || call.task == Task::kOpenStanding) {
    auto opened = call.task == Task::kOpen ? OpenGraph::Open(call.path, call.shown, computes)
                                           : OpenGraph::OpenStanding(call.path, standing, computes);
    const Status all = AgreeOnStatus(job, opened ? Status{} : Status(tl::unexpect, opened.error()));
    if (!all && !job.all_alive()) return tl::unexpected<Error>(all.error());
    if (!all) return all.error();
    graphs[call.graph] = std::move(*opened);
  } else if (call.task == Task::kLoadVertexLists) {
    OpenGraph& graph = *graphs.at(call.graph);
    const auto request = call.RequestAs<VertexRequest>();
    SLIM_ASSIGN(Refusal refusal, graph.LoadVertexLists(job, request));
    const bool fits = !refusal || graph.lists(request.both) != nullptr;
    if (fits || refusal->kind != ErrorKind::kEnvironment) return refusal;
    SLIM_TRY(UnloadAll(graphs));
    return graph.LoadVertexLists(job, request);
  }
  return Refusal();
}

Status UnloadAll(OpenGraphs& graphs) {
  for (auto& [number, graph] : graphs) SLIM_TRY(graph->Unload());
  return {};
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
