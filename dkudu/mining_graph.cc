#include "dkudu/mining_graph.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "dkudu/internal/graph/lists_to_homes.h"
#include "dkudu/internal/graph/ranked_file.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/usage.h"
#include "slimgraph/cluster/gather.h"
#include "slimgraph/graph/shared_graph.h"

namespace slimgraph::dkudu {
namespace {

// Memory of the process that loading touches for the first time: code, libraries and stacks.
constexpr std::uint64_t kProcessBytes = 4 << 20;
// An upper bound of the arcs of all lists that D-Kudu keeps.
std::uint64_t MostArcs(const GraphSource& file) { return file.arcs() * (file.directed() ? 2 : 1); }

// The bytes of the index of all homes, if the arcs are spread evenly.
std::uint64_t IndexBytes(const GraphSource& file, NodeId nodes) {
  return nodes * CompactOffsets::Bytes(file.vertices() / nodes + 1, MostArcs(file) / nodes);
}

// The memory for measuring the lists: ranks by dense id, dense ids by rank, the gathered lengths of
// all lists, their index, and the lengths of one node's lists.
std::uint64_t MeasuringBytes(const GraphSource& file, NodeId nodes) {
  const std::uint64_t vertices = file.vertices();
  return vertices * (2 * sizeof(VertexId) + sizeof(std::uint32_t)) + IndexBytes(file, nodes) +
         vertices / nodes * sizeof(std::uint32_t);
}

// The memory for sending lists to their homes: nothing on one node, which has them all.
std::uint64_t SendingBytes(const GraphSource& file, NodeId nodes) {
  if (nodes == 1) return 0;
  const std::uint64_t arcs = std::min(FileLists::kStepArcs, file.arcs() / nodes + 1);
  return ListsToHomes::Bytes(file.vertices(), arcs * (file.directed() ? 2 : 1));
}

// The least memory that any job on the file takes on each node, known before anything is read. Of
// the lists, it counts only the decoded ones of compute nodes. The bytes of coded lists depend on
// the lists' lengths, which are not known yet.
MemoryPlan LeastPlan(const GraphSource& file, ListPart part, const Topology& topology) {
  const NodeId nodes = topology.nodes();
  const std::uint64_t entries = part == ListPart::kUpper ? file.arcs() / 2 : file.arcs();
  MemoryPlan plan;
  plan.node_bytes.assign(nodes, MeasuringBytes(file, nodes));
  for (NodeId node = 0; node < nodes; ++node) {
    if (topology.is_compute(node)) plan.node_bytes[node] += entries * sizeof(VertexId) / nodes;
  }
  return plan;
}

}  // namespace

std::vector<NodeId> MiningGraph::root_homes() const {
  std::vector<NodeId> homes;
  for (NodeId home = 0; home < nodes_; ++home) {
    if (is_distributed(home) || home % compute_ == self_) homes.push_back(home);
  }
  return homes;
}

Status MiningGraph::Measure(Cluster& cluster, const ChunkPartition& parts, FileLists& lists) {
  SLIM_ASSIGN(const FileLists::Sizes mine, lists.Measure());
  // As bytes, because a copy of all lengths would be more than the plan has room for.
  SLIM_ASSIGN(const auto all, cluster.all().AllGather(std::as_bytes(std::span(mine.lengths))));
  const auto length_of = [&](VertexId dense) {
    const VertexLocation at = parts.location(dense);
    return reinterpret_cast<const std::uint32_t*>(all[at.node].data())[at.local];
  };
  std::vector<std::uint32_t> lengths;
  for (NodeId home = 0; home < nodes_; ++home) {
    SLIM_CHECK(all[home].size() == parts.part(home).count * sizeof(std::uint32_t),
               "{} bytes of lengths from node {}", all[home].size(), home);
    lengths.resize(count_of(home));
    for (VertexId i = 0; i < lengths.size(); ++i)
      lengths[i] = length_of(dense_of_[vertex(home, i)]);
    AddIndex(lengths);
    arcs_ += index_.back().arcs();
  }
  return AddSums(cluster, mine.sums);
}

Status MiningGraph::AddSums(Cluster& cluster, const DegreeSums& mine) {
  SLIM_ASSIGN(const auto sums, GatherByRank<DegreeSums>(cluster.all(), std::span(&mine, 1)));
  for (const auto& of_node : sums) sums_.Add(of_node.front());
  return {};
}

void MiningGraph::AddIndex(std::span<const std::uint32_t> lengths) {
  CompactOffsets& index = index_.emplace_back(code_);
  index.Reserve(static_cast<VertexId>(lengths.size()));
  for (const std::uint32_t length : lengths) index.Append(length);
  index.Finish();
}

std::uint64_t MiningGraph::remote_coded_bytes() const {
  std::uint64_t bytes = 0;
  for (NodeId home = 0; home < nodes_; ++home) {
    if (home != self_) bytes += index_[home].coded_bytes();
  }
  return bytes;
}

std::uint64_t MiningGraph::own_bytes() const {
  if (first_home_ > 0) return 0;  // they stand in a pool
  return (computes() ? index_[self_].arcs() * sizeof(VertexId) : 0) +
         (is_read() ? index_[self_].coded_bytes() : 0);
}

// The peak memory of loading and of the run on each node, gathered from all nodes.
Result<MemoryPlan> MiningGraph::Plan(Cluster& cluster, std::uint64_t process_bytes,
                                     LoadingBytes loading, const WorkingMemory& working) const {
  std::uint64_t of_lists = own_bytes() + dense_of_.size() * sizeof(VertexId);
  for (const CompactOffsets& index : index_) {
    of_lists += CompactOffsets::Bytes(index.count(), index.arcs());
  }
  const std::uint64_t to_run = working.own_bytes + working.mapped_bytes;
  struct {
    std::uint64_t bytes;
    std::uint64_t mapped_bytes;
  } mine{process_bytes + kProcessBytes +
             std::max(loading.to_measure, of_lists + std::max(loading.to_fill, to_run)),
         working.mapped_bytes};
  SLIM_ASSIGN(const auto all, cluster.all().AllGather(std::as_bytes(std::span(&mine, 1))));
  MemoryPlan plan;
  plan.what = "the job";
  plan.held_bytes = ResidentMemoryBytes();
  for (const auto& theirs : all) {
    std::memcpy(&mine, theirs.data(), sizeof mine);
    plan.node_bytes.push_back(mine.bytes);
    plan.mapped_bytes.push_back(mine.mapped_bytes);
    plan.held_bytes = std::min(plan.held_bytes, mine.bytes - mine.mapped_bytes);
  }
  return plan;
}

void MiningGraph::Keep(VertexId number, List list, bool is_coded) {
  if (is_read() && !is_coded) code_.Encode(list, coded_.data() + index_[self_].FindByte(number));
  if (computes()) std::copy(list.begin(), list.end(), lists_ + index_[self_].begin(number));
}

std::size_t MiningGraph::KeepCoded(VertexId number, const std::byte* coded) {
  const CompactOffsets& index = index_[self_];
  SLIM_CHECK(number < index.count(), "list {} of {}", number, index.count());
  const CompactOffsets::Arcs arcs = index.FindArcs(number);
  const std::size_t bytes = code_.Bytes(arcs.length);
  if (is_read()) std::memcpy(coded_.data() + index.FindByte(number), coded, bytes);
  if (computes()) {
    SLIM_CHECK(code_.Decode(coded, {lists_ + arcs.begin, arcs.length}), "list {} is damaged",
               number);
  }
  return bytes;
}

Status MiningGraph::MakeRoom(Cluster& cluster) {
  const CompactOffsets& index = index_[self_];
  SLIM_ASSIGN(const SharedRegion region,
              cluster.fabric().Share(is_read() ? index.coded_bytes() : 0));
  region_ = region.id;
  coded_ = region.memory;
  if (computes() && index.arcs() > 0) {
    SLIM_ASSIGN(own_lists_,
                PageBuffer::Allocate(index.arcs() * sizeof(VertexId), PageBuffer::Pages::kHuge));
  }
  lists_ = own_lists_.as<VertexId>().data();
  return {};
}

Status MiningGraph::Fill(Cluster& cluster, FileLists& lists, std::size_t threads) {
  ListsToHomes to_homes(cluster.all(), lists.pieces(), code_);
  for (bool any_has_more = true; any_has_more;) {
    SLIM_ASSIGN(const bool more, lists.VisitNext([&](std::size_t piece, VertexId v, List list) {
      if (list.empty()) return;
      if (is_own(v)) return Keep(number(v), list);
      to_homes.Add(piece, home(v), number(v), list);
    }));
    SLIM_ASSIGN(any_has_more,
                to_homes.Exchange(more, threads, [&](VertexId number, const std::byte* coded) {
                  return KeepCoded(number, coded);
                }));
  }
  return {};
}

// Every node reads its own lists, so nothing is sent.
Status MiningGraph::LoadRanked(Cluster& cluster, const GraphSource& file,
                               const std::function<Status(LoadingBytes)>& plan_and_announce) {
  const std::size_t threads = LoadingThreads(cluster);
  SLIM_ASSIGN(RankedFile ranked, RankedFile::Open(file, part_, threads));
  std::vector<std::uint32_t> lengths;
  for (NodeId home = 0; home < nodes_; ++home) {
    lengths.resize(count_of(home));
    for (VertexId i = 0; i < lengths.size(); ++i) lengths[i] = ranked.length(vertex(home, i));
    AddIndex(lengths);
    arcs_ += index_.back().arcs();
  }
  SLIM_TRY(AddSums(cluster, ranked.SumsOfLists({self_, nodes_})));
  dense_of_ = ranked.TakeDenseOf();
  SLIM_TRY(plan_and_announce(
      {.to_measure = MeasuringBytes(file, nodes_),
       .to_fill = file.vertices() * sizeof(RankedLength) + RankedFile::Bytes(threads)}));
  SLIM_TRY(MakeRoom(cluster));
  const bool as_read = part_ == ListPart::kAll && is_read();
  return ranked.VisitLists({self_, nodes_}, threads, [&](VertexId rank, Bytes coded, List list) {
    const VertexId at = number(rank);
    if (as_read) {
      std::memcpy(coded_.data() + index_[self_].FindByte(at), coded.data(), coded.size());
    }
    if (!list.empty()) Keep(at, list, as_read);
  });
}

Result<std::unique_ptr<MiningGraph>> MiningGraph::Load(
    Cluster& cluster, const GraphSource& file, ListPart part, const WorkingMemoryOf& working,
    const std::function<void(const MemoryPlan&)>& announce) {
  part = PartFor(file, part);
  SLIM_TRY(CheckForMining(file, part));
  const std::uint64_t process_bytes = ResidentMemoryBytes();
  SLIM_TRY(AgreeToLoad(cluster, file, /*sockets=*/1, LeastPlan(file, part, cluster.topology())));
  std::unique_ptr<MiningGraph> graph(
      new MiningGraph(cluster, part, file.vertices(), /*first_home=*/0));
  const auto plan_and_announce = [&](LoadingBytes loading) -> Status {
    SLIM_ASSIGN(const MemoryPlan plan, graph->Plan(cluster, process_bytes, loading,
                                                   working ? working(*graph) : WorkingMemory{}));
    announce(plan);
    return AgreeThatFits(cluster, plan);
  };
  if (RankedFile::Has(file, part)) {
    SLIM_TRY(graph->LoadRanked(cluster, file, plan_and_announce));
    SLIM_TRY(cluster.all().Barrier());
    return graph;
  }
  SLIM_ASSIGN(DegreeOrder order, DegreeOrder::Of(file));
  graph->dense_of_ = std::move(order.dense_of);
  SLIM_ASSIGN(const ChunkPartition parts,
              CollectiveBalance(cluster, file, Direction::kOut, /*sockets=*/1, /*alpha=*/1));
  const std::size_t threads = LoadingThreads(cluster);
  FileLists lists(file, part, order.rank_of(), parts.part(graph->self_), threads);
  SLIM_TRY(graph->Measure(cluster, parts, lists));
  const std::uint64_t reading = FileLists::Bytes(file, threads);
  const LoadingBytes loading{
      .to_measure = MeasuringBytes(file, graph->nodes_) + reading +
                    parts.part(graph->self_).count * sizeof(std::uint32_t),  // of its part's lists
      .to_fill = file.vertices() * sizeof(VertexId) + reading + SendingBytes(file, graph->nodes_)};
  SLIM_TRY(plan_and_announce(loading));
  SLIM_TRY(graph->MakeRoom(cluster));
  SLIM_TRY(graph->Fill(cluster, lists, threads));
  SLIM_TRY(cluster.all().Barrier());
  return graph;
}

// All nodes know the sums; compute nodes know all lists.
Status MiningGraph::ReadDescription(Endpoint& endpoint, NodeId home, RegionId region) {
  const VertexId count = computes() ? count_of(home) : 0;
  StandingLists::Head head;
  std::vector<std::uint32_t> lengths(count);
  std::vector<VertexId> dense(count);
  std::uint64_t at = 0;
  const auto read = [&](auto into) {
    const auto bytes = std::as_writable_bytes(into);
    if (!bytes.empty()) endpoint.Read(home, region, at, bytes);
    at += bytes.size();
  };
  read(std::span(&head, 1));
  read(std::span(lengths));
  read(std::span(dense));
  if (const Outcome outcome = endpoint.Flush(); outcome != Outcome::kOk) {
    return EnvironmentError("cannot read what node {} tells of its lists: {}", home,
                            OutcomeName(outcome));
  }
  sums_.Add(head.sums);
  arcs_ += head.arcs;
  for (VertexId i = 0; i < count; ++i) dense_of_[vertex(home, i)] = dense[i];
  if (computes() || home != self_) AddIndex(lengths);
  return {};
}

void MiningGraph::AddOwnIndex(const StandingLists& own) {
  const VertexId count = count_of(self_);
  const SharedMemory& told = own.description();
  SLIM_CHECK(told.bytes() == StandingLists::DescriptionBytes(count), "of another graph");
  AddIndex(
      {reinterpret_cast<const std::uint32_t*>(told.base() + sizeof(StandingLists::Head)), count});
}

void MiningGraph::FindInPlace(const Fabric& fabric) {
  for (NodeId node = 0; node < nodes_; ++node) {
    const Bytes lists = fabric.InPlace(node, region_);
    const std::uint64_t needed = index_[node].coded_bytes() + ListCode::kSlackBytes;
    in_place_.push_back(lists.size() < needed ? nullptr : lists.data());
  }
}

Result<std::unique_ptr<MiningGraph>> MiningGraph::Attach(
    Cluster& cluster, const GraphSource& file, ListPart part, const StandingLists* own,
    const WorkingMemoryOf& working, const std::function<void(const MemoryPlan&)>& announce) {
  part = PartFor(file, part);
  SLIM_TRY(CheckForMining(file, part));
  SLIM_CHECK(own == nullptr || own->part() == part, "the pool's node has attached another view");
  const std::uint64_t process_bytes = ResidentMemoryBytes();
  std::unique_ptr<MiningGraph> graph(
      new MiningGraph(cluster, part, file.vertices(), cluster.topology().compute()));
  const bool computes = cluster.computes();
  if (computes) graph->dense_of_.resize(file.vertices());
  Fabric& fabric = cluster.fabric();
  SLIM_ASSIGN(const SharedRegion description,
              fabric.ShareStanding(own == nullptr ? nullptr : &own->description(),
                                   StandingLists::kDescription));
  SLIM_ASSIGN(
      const SharedRegion lists,
      fabric.ShareStanding(own == nullptr ? nullptr : &own->lists(), StandingLists::kLists));
  graph->region_ = lists.id;
  for (NodeId node = 0; node < graph->nodes_; ++node) {
    if (node < graph->first_home_) {
      graph->AddIndex({});
      continue;
    }
    SLIM_TRY(graph->ReadDescription(fabric.endpoint(0), node, description.id));
    if (node == graph->self_) graph->AddOwnIndex(*own);
  }
  if (computes) graph->FindInPlace(fabric);
  const LoadingBytes loading{
      .to_measure = 0,
      .to_fill = StandingLists::DescriptionBytes(graph->vertices() / graph->homes_ + 1)};
  WorkingMemory to_work = working ? working(*graph) : WorkingMemory{};
  // What this process maps of the pool's descriptions: its own, or those that it has read.
  if (!computes) {
    to_work.own_bytes += StandingLists::DescriptionBytes(graph->count_of(graph->self_));
  } else if (cluster.maps_far_memory()) {
    to_work.mapped_bytes += graph->homes_ * StandingLists::DescriptionBytes(0) +
                            StandingLists::DescriptionBytes(graph->vertices_);
  }
  SLIM_ASSIGN(const MemoryPlan plan, graph->Plan(cluster, process_bytes, loading, to_work));
  announce(plan);
  SLIM_TRY(AgreeThatFits(cluster, plan));
  SLIM_TRY(cluster.all().Barrier());
  return graph;
}

}  // namespace slimgraph::dkudu
