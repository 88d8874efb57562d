#include "slimgraph/graph/shared_graph.h"

#include <algorithm>

#include "slimgraph/base/parallel.h"
#include "slimgraph/base/usage.h"
#include "slimgraph/cluster/gather.h"
#include "slimgraph/cluster/nodes_on_this_host.h"
#include "slimgraph/graph/share_array.h"

namespace slimgraph {

std::size_t LoadingThreads(Cluster& cluster) {
  return std::max<std::size_t>(1, UsableThreads() / NodesOnThisHost(cluster.job()).size());
}

// Checks that the nodes opened the same file under this name.
Status AgreeOnFile(Cluster& cluster, const GraphSource& file, std::uint32_t sockets) {
  Job& job = cluster.job();
  SLIM_ASSIGN(const auto all, job.Exchange(fmt::format("{:016x} {}", file.identity(), sockets)));
  for (NodeId node = 1; node < job.nodes(); ++node) {
    if (all[node] == all[0]) continue;
    return cluster.Refuse({ErrorKind::kInput,
                           fmt::format("{}: nodes 0 and {} do not see the same file and number of "
                                       "sockets (\"{}\", \"{}\"): was "
                                       "the file replaced, or does that host have a different one?",
                                       file.path(), node, all[0], all[node])});
  }
  return {};
}

Result<ChunkPartition> CollectiveBalance(Cluster& cluster, const GraphSource& file,
                                         Direction direction, std::uint32_t sockets, double alpha) {
  const NodeId nodes = cluster.topology().nodes();
  const VertexId step = ChunkPartition::StepFor(file.vertices(), nodes, sockets);
  SLIM_ASSIGN(const auto mine, ChunkPartition::ReadOffsets(file, direction, step, cluster.self(),
                                                           nodes, LoadingThreads(cluster)));
  SLIM_ASSIGN(const auto offsets, GatherList<EdgeOffset>(cluster.all(), mine));
  return ChunkPartition(file.vertices(), offsets, step, nodes, sockets, alpha);
}

Status AgreeThatFits(Cluster& cluster, const MemoryPlan& plan) {
  Job& job = cluster.job();
  const Status fits = CheckFits(plan, NodesOnThisHost(job), job.quota());
  SLIM_ASSIGN(const auto all, job.Exchange(fits ? "" : fits.error().message));
  for (NodeId node = 0; node < job.nodes(); ++node) {
    if (all[node].empty()) continue;
    const std::string where = job.one_host() ? "" : fmt::format("node {}: ", node);
    return cluster.Refuse({ErrorKind::kEnvironment, where + all[node]});
  }
  return {};
}

Status AgreeToLoad(Cluster& cluster, const GraphSource& file, std::uint32_t sockets,
                   const MemoryPlan& plan) {
  SLIM_TRY(AgreeThatFits(cluster, plan));
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

namespace {

// The memory of each process while it loads `lists`, and while other nodes read them.
MemoryPlan PlanSharing(Cluster& cluster, const MemoryPlan& lists) {
  constexpr std::uint64_t kProcessBytes = 2 << 20;           // code and libraries touched later
  constexpr std::uint64_t kLoadBytes = 2 * kSlimBlockBytes;  // a thread's buffers while loading
  const Topology& topology = cluster.topology();
  const bool maps = cluster.options().transport == "shm";
  MemoryPlan plan;
  plan.what = "the job";
  plan.held_bytes = ResidentMemoryBytes();
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    std::uint64_t mapped = 0;
    if (maps && topology.is_compute(node)) {
      for (const NodeId other : topology.DelegationSet(node)) mapped += lists.node_bytes[other];
    }
    plan.mapped_bytes.push_back(mapped);
    plan.node_bytes.push_back(plan.held_bytes + kProcessBytes +
                              LoadingThreads(cluster) * kLoadBytes + lists.node_bytes[node] +
                              mapped);
  }
  return plan;
}

}  // namespace

template <typename Partition>
Result<std::unique_ptr<SharedGraph<Partition>>> SharedGraph<Partition>::Load(
    Cluster& cluster, const GraphSource& file, Partition partition, const GraphNeeds& needs,
    const std::function<void(MemoryPlan&)>& announce) {
  SLIM_ASSIGN(const auto sizes, PartSizes(file, partition, needs));
  std::unique_ptr<SharedGraph> graph(
      new SharedGraph(std::move(partition), PlanSharing(cluster, PlanMemory(file, sizes, needs))));
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
