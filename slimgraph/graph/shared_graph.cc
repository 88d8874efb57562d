#include "slimgraph/graph/shared_graph.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/parallel.h"
#include "slimgraph/cluster/nodes_here.h"
#include "slimgraph/graph/share_array.h"

namespace slimgraph {

std::size_t LoadingThreads(Cluster& cluster) {
  return std::max<std::size_t>(1, UsableThreads() / NodesHere(cluster.job()).size());
}

// All nodes opened a file of this name: was it the same?
Status AgreeOnFile(Cluster& cluster, const GraphSource& file, std::uint32_t sockets) {
  Job& job = cluster.job();
  SLIM_ASSIGN(const auto all, job.Exchange(fmt::format("{:016x} {}", file.identity(), sockets)));
  for (NodeId node = 1; node < job.nodes(); ++node) {
    if (all[node] == all[0]) continue;
    return InputError(
        "{}: nodes 0 and {} do not see the same file and number of sockets (\"{}\", \"{}\"); was "
        "it replaced meanwhile, or is it another on that host?",
        file.path(), node, all[0], all[node]);
  }
  return {};
}

Result<ChunkPartition> BalanceTogether(Cluster& cluster, const GraphSource& file,
                                       Direction direction, std::uint32_t sockets) {
  const NodeId nodes = cluster.topology().nodes();
  const VertexId step = ChunkPartition::StepFor(file.vertices(), nodes, sockets);
  SLIM_ASSIGN(const auto mine, ChunkPartition::ReadOffsets(file, direction, step, cluster.self(),
                                                           nodes, LoadingThreads(cluster)));
  SLIM_ASSIGN(const auto all, cluster.all().AllGather(std::as_bytes(std::span(mine))));
  std::vector<EdgeOffset> offsets;
  for (const auto& theirs : all) {
    const std::size_t before = offsets.size();
    offsets.resize(before + theirs.size() / sizeof(EdgeOffset));
    if (!theirs.empty()) std::memcpy(offsets.data() + before, theirs.data(), theirs.size());
  }
  return ChunkPartition(file.vertices(), offsets, step, nodes, sockets,
                        ChunkPartition::DefaultAlpha(nodes));
}

// Nobody takes memory before all have looked: Share() meets the others before it is used.
Status CheckFitsHere(Cluster& cluster, const MemoryPlan& plan) {
  return CheckFits(plan, NodesHere(cluster.job()));
}

Status AgreeToLoad(Cluster& cluster, const GraphSource& file, std::uint32_t sockets,
                   const MemoryPlan& plan) {
  SLIM_TRY(CheckFitsHere(cluster, plan));
  return AgreeOnFile(cluster, file, sockets);
}

Result<SharedLists> ShareLists(Cluster& cluster, const GraphSource& file, const VertexPart& part,
                               Direction direction, bool weights, std::uint32_t socket) {
  SLIM_ASSIGN(const EdgeOffset arcs, CountArcs(file, part, direction));
  Fabric& fabric = cluster.fabric();
  SharedLists lists;
  auto& [regions, spans] = lists;
  SLIM_ASSIGN(spans.offsets, ShareArray<EdgeOffset>(fabric, std::uint64_t{part.count} + 1, socket,
                                                    regions.offsets));
  SLIM_ASSIGN(spans.neighbours, ShareArray<VertexId>(fabric, arcs, socket, regions.neighbours));
  if (weights) {
    SLIM_ASSIGN(spans.weights, ShareArray<std::byte>(fabric, arcs * WeightBytes(file.weight_type()),
                                                     socket, regions.weights));
  }
  SLIM_TRY(LoadLists(file, part, direction, spans, LoadingThreads(cluster)));
  return lists;
}

template <typename Partition>
Result<std::unique_ptr<SharedGraph<Partition>>> SharedGraph<Partition>::Load(
    Cluster& cluster, const GraphSource& file, Partition partition, const GraphNeeds& needs,
    const std::function<void(const MemoryPlan&)>& announce) {
  SLIM_ASSIGN(const auto sizes, PartSizes(file, partition, needs));
  std::unique_ptr<SharedGraph> graph(
      new SharedGraph(std::move(partition), PlanMemory(file, sizes, needs)));
  announce(graph->plan_);
  SLIM_TRY(AgreeToLoad(cluster, file, graph->sockets(), graph->plan_));
  const bool both = file.directed() && needs.in_lists;
  for (std::uint32_t socket = 0; socket < graph->sockets(); ++socket) {
    const VertexPart part = graph->partition_.part(cluster.self(), socket);
    SLIM_ASSIGN(const auto out,
                ShareLists(cluster, file, part, Direction::kOut, needs.weights, socket));
    graph->out_.push_back(out);
    if (!both) continue;
    SLIM_ASSIGN(const auto in,
                ShareLists(cluster, file, part, Direction::kIn, needs.weights, socket));
    graph->in_.push_back(in);
  }
  SLIM_TRY(cluster.all().Barrier());
  return graph;
}

template class SharedGraph<ChunkPartition>;
template class SharedGraph<HashPartition>;

}  // namespace slimgraph
