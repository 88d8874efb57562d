#include "dkudu/mining_graph.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "dkudu/internal/kernel/bit_matrix.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/usage.h"
#include "slimgraph/graph/shared_graph.h"

namespace slimgraph::dkudu {
namespace {

// Memory of the process that loading touches for the first time: code, libraries and stacks.
constexpr std::uint64_t kProcessBytes = 4 << 20;
constexpr std::uint64_t kPieceArcs = 1 << 20;

// One direction's lists in the piece of the file that is being read.
struct Side {
  Direction direction;
  std::vector<EdgeOffset> offsets;
  std::vector<VertexId> neighbours;

  EdgeOffset ArcsOf(std::size_t first, std::size_t end) const {
    return offsets[end] - offsets[first];
  }
  List Of(std::size_t i, std::size_t first) const {
    return List(neighbours).subspan(offsets[i] - offsets[first], ArcsOf(i, i + 1));
  }
};

// Calls visit(dense id, out list, in list) for every vertex of the file for which wanted(dense id)
// holds. In an undirected graph the in list is empty. The vertices of a home are scattered over the
// file, so every node streams through the whole file.
template <typename Wanted, typename Visit>
Status ForEachList(const GraphSource& file, Wanted wanted, Visit visit) {
  std::vector<Side> sides = {{Direction::kOut, {}, {}}};
  if (file.directed()) sides.push_back({Direction::kIn, {}, {}});
  for (std::size_t start = 0; start < file.vertices(); start += kPieceVertices) {
    const std::size_t count = std::min<std::size_t>(kPieceVertices, file.vertices() - start);
    for (Side& side : sides) {
      side.offsets.resize(count + 1);
      SLIM_TRY(file.ReadElements(file.offsets(side.direction), start, std::span(side.offsets), 1));
    }
    for (std::size_t first = 0; first < count;) {
      std::size_t last = first + 1;
      const auto fits = [&](const Side& side) {
        return side.ArcsOf(first, last + 1) <= kPieceArcs;
      };
      while (last < count && std::all_of(sides.begin(), sides.end(), fits)) ++last;
      for (Side& side : sides) {
        side.neighbours.resize(side.ArcsOf(first, last));
        SLIM_TRY(file.ReadElements(file.neighbours(side.direction), side.offsets[first],
                                   std::span(side.neighbours), 1));
      }
      for (std::size_t i = first; i < last; ++i) {
        const auto v = static_cast<VertexId>(start + i);
        if (!wanted(v)) continue;
        visit(v, sides[0].Of(i, first), sides.size() < 2 ? List() : sides[1].Of(i, first));
      }
      first = last;
    }
  }
  return {};
}

// Calls visit(rank, entries of its list) for every vertex of this node. The neighbours are without
// self-loops and duplicates, and in ascending order of their dense ids.
template <typename Visit>
Status ForEachOwn(const GraphSource& file, const MiningGraph& graph,
                  const std::vector<VertexId>& rank_of, Visit visit) {
  std::vector<VertexId> entries;
  const auto mine = [&](VertexId dense) { return graph.is_own(rank_of[dense]); };
  return ForEachList(file, mine, [&](VertexId dense, List out, List in) {
    entries.clear();
    // A list of the file ascends by dense id, so duplicates are adjacent.
    for (std::size_t i = 0; i < out.size() && !file.directed(); ++i) {
      if (out[i] == dense || (i > 0 && out[i] == out[i - 1])) continue;
      entries.push_back(rank_of[out[i]]);
    }
    for (std::size_t o = 0, i = 0; file.directed() && (o < out.size() || i < in.size());) {
      const bool arc = i == in.size() || (o < out.size() && out[o] <= in[i]);
      const VertexId w = arc ? out[o] : in[i];
      while (o < out.size() && out[o] == w) ++o;
      while (i < in.size() && in[i] == w) ++i;
      if (w != dense) entries.push_back(2 * rank_of[w] + (arc ? 1 : 0));
    }
    visit(rank_of[dense], entries);
  });
}

// An upper bound of the arcs of all lists that D-Kudu keeps.
std::uint64_t MostArcs(const GraphSource& file) { return file.arcs() * (file.directed() ? 2 : 1); }

// The bytes of the index of all homes, if the arcs are spread evenly.
std::uint64_t IndexBytes(const GraphSource& file, NodeId nodes) {
  return nodes * CompactOffsets::Bytes(file.vertices() / nodes + 1, MostArcs(file) / nodes);
}

// The memory for measuring the lists: ranks by dense id, dense ids by rank, the gathered lengths of
// all lists, their index, and this node's own lengths and degrees.
std::uint64_t MeasuringBytes(const GraphSource& file, NodeId nodes) {
  const std::uint64_t vertices = file.vertices();
  return vertices * (2 * sizeof(VertexId) + sizeof(std::uint32_t)) + IndexBytes(file, nodes) +
         vertices / nodes * 2 * sizeof(std::uint32_t);
}

// The buffers for a piece of the file.
std::uint64_t PieceBytes(const GraphSource& file) {
  return (file.directed() ? 2 : 1) *
         ((kPieceVertices + 1) * sizeof(EdgeOffset) + kPieceArcs * sizeof(VertexId));
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

Status MiningGraph::Measure(Cluster& cluster, const GraphSource& file, const Ranks& rank_of) {
  const VertexId vertices = file.vertices();
  const VertexId own_vertices = (vertices + nodes_ - 1 - self_) / nodes_;
  std::vector<std::uint32_t> sizes(own_vertices);
  std::vector<std::uint32_t> degrees(own_vertices);
  DegreeSums sums;
  SLIM_TRY(ForEachOwn(file, *this, rank_of, [&](VertexId v, const Ranks& neighbours) {
    const auto above = static_cast<std::uint64_t>(
        std::count_if(neighbours.begin(), neighbours.end(),
                      [&](VertexId entry) { return entry >> EntryBits(part_) > v; }));
    sums.most_above = std::max(sums.most_above, above);
    sums.matrix_bytes += BitMatrix::Bytes(above);
    degrees[v / nodes_] = static_cast<std::uint32_t>(neighbours.size());
    sizes[v / nodes_] =
        part_ == ListPart::kUpper ? static_cast<std::uint32_t>(above) : degrees[v / nodes_];
  }));
  SLIM_ASSIGN(const auto all_sizes, cluster.all().AllGather(std::as_bytes(std::span(sizes))));
  MakeIndex(vertices, all_sizes);
  return AddSums(cluster, degrees, sums);
}

void MiningGraph::MakeIndex(VertexId vertices, const std::vector<std::vector<std::byte>>& lengths) {
  for (NodeId home = 0; home < nodes_; ++home) {
    const std::size_t count = lengths[home].size() / sizeof(std::uint32_t);
    SLIM_CHECK(count == (vertices + nodes_ - 1 - home) / nodes_, "node {} has {} lists", home,
               count);
    CompactOffsets& index = index_.emplace_back(code_);
    index.Reserve(static_cast<VertexId>(count));
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t length = 0;
      std::memcpy(&length, lengths[home].data() + i * sizeof length, sizeof length);
      index.Append(length);
    }
    index.Finish();
    arcs_ += index.arcs();
  }
}

std::uint64_t MiningGraph::remote_coded_bytes() const {
  std::uint64_t bytes = 0;
  for (NodeId home = 0; home < nodes_; ++home) {
    if (home != self_) bytes += index_[home].coded_bytes();
  }
  return bytes;
}

std::uint64_t MiningGraph::own_bytes() const {
  return (computes() ? index_[self_].arcs() * sizeof(VertexId) : 0) +
         (is_read() ? index_[self_].coded_bytes() : 0);
}

// The peak memory of loading and of the run on each node, gathered from all nodes.
Result<MemoryPlan> MiningGraph::Plan(Cluster& cluster, const GraphSource& file,
                                     std::uint64_t process_bytes,
                                     const WorkingMemory& working) const {
  const std::uint64_t of_lists = own_bytes() + IndexBytes(file, nodes_) +
                                 file.vertices() * sizeof(VertexId);  // dense ids by rank
  const std::uint64_t to_fill = file.vertices() * sizeof(VertexId) + PieceBytes(file);
  const std::uint64_t to_run = working.own_bytes + working.mapped_bytes;
  struct {
    std::uint64_t bytes;
    std::uint64_t mapped_bytes;
  } mine{process_bytes + kProcessBytes +
             std::max(MeasuringBytes(file, nodes_), of_lists + std::max(to_fill, to_run)),
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

Status MiningGraph::Fill(Cluster& cluster, const GraphSource& file, const Ranks& rank_of) {
  const CompactOffsets& index = index_[self_];
  SLIM_ASSIGN(const SharedRegion region,
              cluster.fabric().Share(is_read() ? index.coded_bytes() : 0));
  region_ = region.id;
  coded_ = region.memory;
  if (computes() && index.arcs() > 0) {
    SLIM_ASSIGN(own_lists_,
                PageBuffer::Allocate(index.arcs() * sizeof(VertexId), PageBuffer::Pages::kHuge));
  }
  VertexId* const lists = own_lists_.as<VertexId>().data();
  lists_ = lists;
  return ForEachOwn(file, *this, rank_of, [&](VertexId v, Ranks& neighbours) {
    if (part_ == ListPart::kUpper) std::erase_if(neighbours, [&](VertexId w) { return w < v; });
    std::sort(neighbours.begin(), neighbours.end());
    if (is_read()) code_.Encode(neighbours, coded_.data() + index.FindByte(v / nodes_));
    if (computes()) {
      std::copy(neighbours.begin(), neighbours.end(), lists + index.begin(v / nodes_));
    }
  });
}

Status MiningGraph::AddSums(Cluster& cluster, std::span<const std::uint32_t> degrees,
                            DegreeSums mine) {
  for (const std::uint64_t degree : degrees) {
    mine.arcs += degree;
    mine.most = std::max(mine.most, degree);
    if (degree < 2) continue;
    const unsigned __int128 pairs = static_cast<unsigned __int128>(degree) * (degree - 1) / 2;
    mine.pairs += pairs;
    mine.triples += pairs * (degree - 2) / 3;
  }
  const auto add = [](const DegreeSums& a, const DegreeSums& b) {
    return DegreeSums{.arcs = a.arcs + b.arcs,
                      .most = std::max(a.most, b.most),
                      .most_above = std::max(a.most_above, b.most_above),
                      .matrix_bytes = a.matrix_bytes + b.matrix_bytes,
                      .pairs = a.pairs + b.pairs,
                      .triples = a.triples + b.triples};
  };
  SLIM_TRY(cluster.all().AllReduce(std::span(&mine, 1), add));
  sums_ = mine;
  return {};
}

Result<std::unique_ptr<MiningGraph>> MiningGraph::Load(
    Cluster& cluster, const GraphSource& file, ListPart part, const WorkingMemoryOf& working,
    const std::function<void(const MemoryPlan&)>& announce) {
  if (file.vertices() == 0) return InputError("{}: the graph is empty", file.path());
  if (part == ListPart::kArcs && !file.directed()) part = ListPart::kAll;
  if (part == ListPart::kArcs) {
    if (!file.has(Direction::kIn)) {
      return InputError("{} has no incoming lists: convert it without --no-reverse", file.path());
    }
    if (file.vertices() > std::numeric_limits<VertexId>::max() / 2) {
      return InputError("{}: more than 2^31 - 1 vertices of a directed graph", file.path());
    }
  } else if (file.directed()) {
    return InputError(
        "{} is directed, and patterns are mined in undirected graphs; make it one with: slimgraph "
        "convert {} OUT.slim --symmetrize",
        file.path(), file.path());
  }
  const std::uint64_t process_bytes = ResidentMemoryBytes();
  SLIM_TRY(AgreeToLoad(cluster, file, /*sockets=*/1, LeastPlan(file, part, cluster.topology())));
  SLIM_ASSIGN(DegreeOrder order, DegreeOrder::Of(file));
  std::unique_ptr<MiningGraph> graph(new MiningGraph(cluster, part, file.vertices()));
  graph->dense_of_ = std::move(order.dense_of);
  SLIM_TRY(graph->Measure(cluster, file, order.rank_of));
  SLIM_ASSIGN(const MemoryPlan plan, graph->Plan(cluster, file, process_bytes,
                                                 working ? working(*graph) : WorkingMemory{}));
  announce(plan);
  SLIM_TRY(AgreeThatFits(cluster, plan));
  SLIM_TRY(graph->Fill(cluster, file, order.rank_of));
  SLIM_TRY(cluster.all().Barrier());
  return graph;
}

}  // namespace slimgraph::dkudu
