#include "dkudu/truss.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "dkudu/internal/kernel/truss_kernel.h"
#include "dkudu/internal/task_share.h"

namespace slimgraph::dkudu {
namespace {

const Stage kLowering("truss bounds");
const Stage kWriting("truss writes");
const Stage kCounting("truss sizes");

// An edge at its end of the smaller original id.
struct EdgeAbove {
  VertexId to;
  std::uint32_t trussness;
};

using Kernels = std::vector<std::unique_ptr<TrussKernel>>;  // by thread

struct Progress {
  std::uint64_t waiting = 0;  // engines that had no room for another task
  std::uint64_t changes = 0;

  Progress& operator+=(const Progress& other) {
    waiting += other.waiting;
    changes += other.changes;
    return *this;
  }
};

// Runs tasks until none is left or the new bounds of another would have no room.
Status LowerBounds(MiningJob& job, TaskShare& tasks, Kernels& kernels, std::vector<Progress>& all) {
  return RunEngines(job, kLowering, [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
    TrussKernel& kernel = *kernels[thread];
    const bool alone = job.graph.compute() * job.graph.threads() == 1;  // no one else reads
    bool has_room = true;
    while ((has_room = kernel.HasRoomForTask())) {
      SLIM_ASSIGN(const auto task, tasks.ClaimTask(endpoint));
      if (!task) break;
      SLIM_TRY(kernel.Run(*task));
      if (alone) SLIM_TRY(kernel.Write());
    }
    all[thread] = {has_room ? 0U : 1U, kernel.TakeChanges()};
    return {};
  });
}

// One round over all roots; returns how many edges were lowered. Bounds are read and written in
// turns, with a collective operation between.
Result<std::uint64_t> RunRound(MiningJob& job, TrussRun& run, Kernels& kernels) {
  SLIM_ASSIGN(const auto tasks, TaskShare::Make(job, false));
  tasks->HideProgress();
  Progress turn{.waiting = 1};
  std::uint64_t changes = 0;
  while (turn.waiting > 0) {
    std::vector<Progress> all(job.cluster.threads());
    SLIM_TRY(LowerBounds(job, *tasks, kernels, all));
    turn = {};
    for (const Progress& one : all) turn += one;
    const auto add = [](Progress a, const Progress& b) { return a += b; };
    SLIM_TRY(job.cluster.all().AllReduce(std::span(&turn, 1), add));
    changes += turn.changes;
    const auto write = [&](std::uint32_t thread, Endpoint&) { return kernels[thread]->Write(); };
    if (turn.changes > 0) SLIM_TRY(RunEngines(job, kWriting, write));
    SLIM_TRY(job.cluster.all().Barrier());
  }
  job.stolen_tasks += tasks->stolen();
  SLIM_TRY(run.flags.BeginRound(job.cluster));
  return changes;
}

std::vector<VertexId> RanksByDenseIds(const MiningGraph& graph) {
  std::vector<VertexId> ranks(graph.vertices());
  for (VertexId v = 0; v < graph.vertices(); ++v) ranks[graph.dense(v)] = v;
  return ranks;
}

// What ForEach takes of `chunk_bytes`: it holds no list twice at a time.
std::uint64_t VisitBytes(const MiningGraph& graph, std::uint64_t chunk_bytes) {
  const TrussRoom room(graph, chunk_bytes);
  const std::uint64_t lists = std::min<std::uint64_t>(room.lower_lists, graph.vertices());
  return NeighbourLists::BytesTaken(graph, room.list_bytes, lists) +
         ArcReader::Bytes(graph, room.values) + lists * TrussRoom::kBytesPerList +
         graph.vertices() * sizeof(VertexId) + 2 * graph.sums().most * sizeof(EdgeAbove);
}

}  // namespace

std::uint64_t TrussBytes(const MiningGraph& graph, const MiningOptions& options) {
  const std::uint64_t chunk_bytes = ChunkBytesOf(options, TrussKernel::LeastBytes(graph));
  const std::uint64_t to_lower = graph.threads() * TrussKernel::Bytes(graph, chunk_bytes) +
                                 ListCache::Bytes(graph, options.cache_bytes) +
                                 TaskShare::Bytes(graph) + RootFlags::Bytes(graph);
  const std::uint64_t to_visit = graph.self() == 0 ? VisitBytes(graph, chunk_bytes) : 0;
  return std::max(to_lower, to_visit);
}

Result<Trussness> ComputeTrussness(MiningJob& job) {
  SLIM_TRY(RequireCompleteLists(job.graph, "trusses"));
  SLIM_ASSIGN(const auto chunk_bytes, CheckedChunkBytes(job, TrussKernel::LeastBytes(job.graph)));
  SLIM_ASSIGN(const auto cache, MakeListCache(job));
  SLIM_ASSIGN(auto values, ArcValues::Make(job));
  SLIM_ASSIGN(auto flags, RootFlags::Make(job));
  TrussRun run{std::move(values), std::move(flags)};
  {
    Kernels kernels(job.cluster.computes() ? job.cluster.threads() : 0);
    for (std::uint32_t thread = 0; thread < kernels.size(); ++thread) {
      kernels[thread] = std::make_unique<TrussKernel>(job, thread, cache.get(), chunk_bytes, run);
    }
    for (;; ++run.round) {
      SLIM_ASSIGN(const std::uint64_t changes, RunRound(job, run, kernels));
      if (changes == 0) break;
    }
  }
  Trussness result(std::move(run.values));
  result.rounds_ = run.round;
  SLIM_TRY(result.CountEdges(job));
  return result;
}

std::uint64_t Trussness::EdgesOfTruss(std::uint32_t k) const {
  std::uint64_t edges = 0;
  for (std::size_t i = k; i < edges_of_.size(); ++i) edges += edges_of_[i];
  return edges;
}

// Each compute node counts the values of its own lists and of its share of the memory nodes'.
Status Trussness::CountEdges(MiningJob& job) {
  const auto count = [this](ArcValues::Values values) {
    for (const ArcValues::Value value : values) {
      if (value + 1 >= edges_of_.size()) edges_of_.resize(value + 2);
      ++edges_of_[value + 1];
    }
  };
  edges_of_.assign(1, 0);
  const NodeId compute = job.graph.compute();
  for (NodeId home = job.graph.self(); job.graph.computes() && home < job.graph.nodes();
       home += compute) {
    if (home == job.graph.self()) {
      count(values_.own());
    } else {
      SLIM_TRY(values_.ReadPieces(job.cluster.fabric().endpoint(0), home, count));
    }
  }
  SLIM_ASSIGN(const std::size_t most, job.cluster.all().AllMax(edges_of_.size()));
  edges_of_.resize(most);
  SLIM_TRY(job.cluster.all().AllReduce(std::span(edges_of_), std::plus<std::uint64_t>()));
  for (std::uint64_t& edges : edges_of_) edges /= 2;  // an edge is in two lists
  return {};
}

Status Trussness::ForEach(MiningJob& job, const OriginalIds& ids, const Visit& visit) const {
  const MiningGraph& graph = job.graph;
  const TrussRoom room(graph, ChunkBytesOf(job.options, TrussKernel::LeastBytes(graph)));
  NeighbourLists lists(graph, job.lists.fetch(0), nullptr, Reuse::kNone, room.list_bytes,
                       graph.vertices());
  ArcReader values(values_, job.cluster.fabric().endpoint(0), room.values);
  const std::vector<VertexId> ranks = RanksByDenseIds(graph);
  std::vector<EdgeAbove> edges;
  for (VertexId next = 0, first = 0; first < graph.vertices(); first = next) {
    for (; next < graph.vertices(); ++next) {
      const VertexId v = ranks[ids.InOrder(next)];
      const bool fits = values.size() < room.lower_lists && lists.HasRoomFor(v);
      if (!fits || !values.HasRoomFor(v)) break;
      lists.Add(v);
      values.Add(v);
    }
    SLIM_TRY(lists.Fetch(values));
    for (VertexId i = first; i < next; ++i) {
      const VertexId from = ids.InOrder(i);
      const List list = lists.Get(i - first);
      edges.clear();
      for (std::size_t at = 0; at < list.size(); ++at) {
        const VertexId to = graph.dense(list[at]);
        if (ids[to] > ids[from]) edges.push_back({to, values.Get(i - first)[at] + 1});
      }
      std::sort(edges.begin(), edges.end(),
                [&](const EdgeAbove& a, const EdgeAbove& b) { return ids[a.to] < ids[b.to]; });
      for (const EdgeAbove& edge : edges) SLIM_TRY(visit(from, edge.to, edge.trussness));
    }
    lists.Clear();
    values.Clear();
  }
  return {};
}

}  // namespace slimgraph::dkudu
