#include "dkudu/graph/mining_graph.h"

#include <algorithm>
#include <array>

#include "slimgraph/graph/shared_graph.h"

namespace slimgraph {
namespace {

// The program itself with its threads' stacks, and pieces of the file while it is read.
constexpr std::uint64_t kProcessBytes = 18 << 20;
// Degrees, places in their order and displacements, and what nodes tell each other of them.
constexpr std::uint64_t kLoadBytesPerVertex = 32;
constexpr std::uint64_t kPieceArcs = 1 << 20;

// Calls visit(dense id, list) for every list of the file that `wanted` picks. Vertices of a home
// are all over the file, so that every node streams through all of it.
template <typename Wanted, typename Visit>
Status ForEachList(const GraphSource& file, Wanted wanted, Visit visit) {
  std::vector<EdgeOffset> offsets;
  std::vector<VertexId> neighbours;
  for (std::size_t start = 0; start < file.vertices(); start += kPieceVertices) {
    const std::size_t count = std::min<std::size_t>(kPieceVertices, file.vertices() - start);
    offsets.resize(count + 1);
    SLIM_TRY(file.ReadElements(file.offsets(Direction::kOut), start, std::span(offsets), 1));
    for (std::size_t first = 0; first < count;) {
      std::size_t last = first + 1;
      while (last < count && offsets[last + 1] - offsets[first] <= kPieceArcs) ++last;
      neighbours.resize(offsets[last] - offsets[first]);
      SLIM_TRY(file.ReadElements(file.neighbours(Direction::kOut), offsets[first],
                                 std::span(neighbours), 1));
      for (std::size_t i = first; i < last; ++i) {
        const auto v = static_cast<VertexId>(start + i);
        if (!wanted(v)) continue;
        visit(v,
              List(neighbours).subspan(offsets[i] - offsets[first], offsets[i + 1] - offsets[i]));
      }
      first = last;
    }
  }
  return {};
}

// Lists are dealt out by place in the degree order, so that all nodes get nearly the same.
MemoryPlan PlanFor(const GraphSource& file, ListPart part, const Topology& topology,
                   const WorkingMemory& working) {
  const std::uint64_t entries = part == ListPart::kUp ? file.arcs() / 2 : file.arcs();
  const std::uint64_t list_bytes = entries * sizeof(VertexId) / topology.nodes();
  MemoryPlan plan;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    std::uint64_t bytes = kProcessBytes + list_bytes + file.vertices() * kLoadBytesPerVertex;
    if (topology.is_compute(node)) {
      const std::uint64_t theirs = list_bytes * (topology.nodes() - 1);
      bytes += working.bytes + std::min(working.list_bytes, theirs);
    }
    plan.node_bytes.push_back(bytes);
  }
  return plan;
}

}  // namespace

std::vector<NodeId> MiningGraph::root_homes() const {
  std::vector<NodeId> homes;
  for (NodeId home = 0; home < nodes_; ++home) {
    if (is_dealt_out(home) || home % compute_ == self_) homes.push_back(home);
  }
  return homes;
}

Status MiningGraph::Fill(Cluster& cluster, const GraphSource& file, const DegreeOrder& order) {
  const VertexId vertices = file.vertices();
  const VertexId own_vertices = (vertices + nodes_ - 1 - self_) / nodes_;
  std::vector<std::uint32_t> sizes(own_vertices);
  std::vector<std::uint32_t> degrees(own_vertices);
  std::uint64_t most_above = 0;
  std::vector<VertexId> places;
  // A list of the file ascends by dense id: its duplicates are neighbours.
  const auto translate = [&](VertexId dense, List list) {
    places.clear();
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] == dense || (i > 0 && list[i] == list[i - 1])) continue;
      places.push_back(order.place_of[list[i]]);
    }
  };
  const auto mine = [&](VertexId dense) { return order.place_of[dense] % nodes_ == self_; };
  SLIM_TRY(ForEachList(file, mine, [&](VertexId dense, List list) {
    translate(dense, list);
    const VertexId v = order.place_of[dense];
    const auto above =
        std::count_if(places.begin(), places.end(), [&](VertexId w) { return w > v; });
    most_above = std::max(most_above, static_cast<std::uint64_t>(above));
    degrees[v / nodes_] = static_cast<std::uint32_t>(places.size());
    sizes[v / nodes_] =
        part_ == ListPart::kUp ? static_cast<std::uint32_t>(above) : degrees[v / nodes_];
  }));
  SLIM_ASSIGN(const auto all_sizes, cluster.all().AllGather(std::as_bytes(std::span(sizes))));
  SLIM_ASSIGN(displacements_, Displacements::Make(vertices, all_sizes));
  SLIM_TRY(AddSums(cluster, degrees, most_above));

  const std::uint64_t entries = displacements_.total(self_);
  SLIM_ASSIGN(const SharedRegion region, cluster.fabric().Share(entries * sizeof(VertexId)));
  region_ = region.id;
  auto* const lists = reinterpret_cast<VertexId*>(region.memory.data());
  lists_ = lists;
  return ForEachList(file, mine, [&](VertexId dense, List list) {
    translate(dense, list);
    const VertexId v = order.place_of[dense];
    if (part_ == ListPart::kUp) std::erase_if(places, [&](VertexId w) { return w < v; });
    std::sort(places.begin(), places.end());
    std::copy(places.begin(), places.end(), lists + displacements_.begin(self_, v / nodes_));
  });
}

Status MiningGraph::AddSums(Cluster& cluster, std::span<const std::uint32_t> degrees,
                            std::uint64_t most_above) {
  DegreeSums mine{.most_above = most_above};
  for (const std::uint64_t degree : degrees) {
    mine.arcs += degree;
    mine.most = std::max(mine.most, degree);
    if (degree < 2) continue;
    const unsigned __int128 pairs = static_cast<unsigned __int128>(degree) * (degree - 1) / 2;
    mine.pairs += pairs;
    mine.triples += pairs * (degree - 2) / 3;
  }
  const auto add = [](const DegreeSums& a, const DegreeSums& b) {
    return DegreeSums{a.arcs + b.arcs, std::max(a.most, b.most),
                      std::max(a.most_above, b.most_above), a.pairs + b.pairs,
                      a.triples + b.triples};
  };
  SLIM_TRY(cluster.all().AllReduce(std::span(&mine, 1), add));
  sums_ = mine;
  return {};
}

Result<std::unique_ptr<MiningGraph>> MiningGraph::Load(
    Cluster& cluster, const GraphSource& file, ListPart part, const WorkingMemory& working,
    const std::function<void(const MemoryPlan&)>& announce) {
  if (file.vertices() == 0) return InputError("{}: the graph is empty", file.path());
  if (file.directed()) {
    return InputError(
        "{} is directed, and patterns are mined in undirected graphs; make it one with: slimgraph "
        "convert {} OUT.slim --symmetrize",
        file.path(), file.path());
  }
  const MemoryPlan plan = PlanFor(file, part, cluster.topology(), working);
  announce(plan);
  SLIM_TRY(AgreeToLoad(cluster, file, /*sockets=*/1, plan));
  SLIM_ASSIGN(DegreeOrder order, DegreeOrder::Of(file));
  std::unique_ptr<MiningGraph> graph(new MiningGraph(cluster, part));
  SLIM_TRY(graph->Fill(cluster, file, order));
  graph->dense_of_ = std::move(order.dense_of);
  SLIM_TRY(cluster.all().Barrier());
  return graph;
}

}  // namespace slimgraph
