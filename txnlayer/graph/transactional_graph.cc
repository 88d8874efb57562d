#include "txnlayer/graph/transactional_graph.h"

#include <algorithm>
#include <cstring>

#include "txnlayer/graph/fold.h"
#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {
namespace {

// Of the blocks that entries fill, after splits: a third.
constexpr std::uint64_t kBlocksPerFull = 3;
// By how many times what there is room for at a time the base may grow by folds: where room takes
// no memory, in any partition; else in all, of which one may have twice its share.
constexpr std::uint64_t kMostGrowth = 4;
constexpr std::uint64_t kLargestShare = 2;
// Of the tuples that there is room for, how many there are until changes are folded: one in so
// many, or more.
constexpr std::uint64_t kWhileFolded = 8;
// Keys are dealt out by number: nodes have not all the same.
constexpr std::uint64_t kSpare = 64;

// A number that depends on all of an edge but the side from which it is seen.
std::uint64_t Fingerprint(VertexName one, VertexName other, const EdgeEntry& entry,
                          const std::byte* properties, std::uint32_t bytes) {
  std::uint64_t sum = Mix(std::min(one, other)) + Mix(std::max(one, other) * 3 + 1);
  sum = Mix(sum + entry.time) + entry.alive * 2 + entry.in_base;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    sum = Mix(sum + std::to_integer<std::uint64_t>(properties[i]));
  }
  return Mix(sum);
}

}  // namespace

Result<std::unique_ptr<TransactionalGraph>> TransactionalGraph::Make(Engine& engine,
                                                                     const BaseSource& source,
                                                                     const GraphOptions& options) {
  for (const auto& [what, bytes] :
       {std::pair{"vertex", options.shape.vertex_bytes}, {"edge", options.shape.edge_bytes}}) {
    if (bytes > kMaxPropertyBytes) {
      return UsageError("{} bytes of properties for each {}: at most {} are possible", bytes, what,
                        kMaxPropertyBytes);
    }
  }
  std::unique_ptr<TransactionalGraph> graph(new TransactionalGraph(engine, options));
  Cluster& cluster = engine.cluster();
  const std::uint64_t nodes = cluster.topology().nodes();
  const bool folds = options.fold_share > 0;
  const EdgeOffset growth = cluster.fabric().pages_on_demand()
                                ? kMostGrowth * 2 * options.room_edges
                                : std::min(kLargestShare, nodes) * 2 * options.room_edges / nodes;
  SLIM_ASSIGN(graph->base_,
              BaseGraph::Load(cluster, source, options.shape, engine.options().replicas,
                              folds ? std::optional(growth) : std::nullopt));
  const BaseGraph& base = *graph->base_;
  // Whoever looks at a vertex places its tuples.
  std::uint64_t blocks = options.room_vertices * DirectionsOf(options.shape).size();
  for (VertexId v = 0; v < base.vertices(); ++v) {
    blocks += BlocksAt(FirstDepth(base.At(v).length));
  }
  blocks += 2 * options.room_edges * kBlocksPerFull / EdgeBlock::Capacity(options.shape);
  const std::uint64_t vertices =
      VertexOfSide(options.shape, base.vertices()) + options.room_vertices;
  const auto on_each = [&](std::uint64_t all) { return (all + all / 8) / nodes + kSpare; };
  const auto add_table = [&](const char* name, std::uint32_t bytes, std::uint64_t tuples) {
    const auto until_folded = static_cast<std::uint64_t>(
        2 * options.fold_share * static_cast<double>(graph->BaseBytes()) / bytes);
    return engine.AddTable(
        {.name = name,
         .record_bytes = bytes,
         .tuples_per_node = on_each(tuples),
         .home_shift = kBlockBits,
         .usual_tuples = folds ? on_each(std::max(until_folded, tuples / kWhileFolded)) : 0,
         .neighbour_bits = kFanOutBits});
  };
  const std::uint32_t vertex_bytes = sizeof(VertexRecord) + options.shape.vertex_bytes;
  SLIM_ASSIGN(graph->vertices_, add_table("vertices", vertex_bytes, vertices));
  SLIM_ASSIGN(graph->blocks_, add_table("edges", EdgeBlock::RecordBytes(options.shape), blocks));
  if (folds) {
    graph->folder_ = std::make_unique<Folder>(*graph);
  }
  return graph;
}

TransactionalGraph::TransactionalGraph(Engine& engine, const GraphOptions& options)
    : engine_(engine), options_(options) {}

TransactionalGraph::~TransactionalGraph() = default;

std::uint64_t TransactionalGraph::BaseBytes() const {
  const BaseGraph& base = *base_;
  return base.vertices() * sizeof(EdgeOffset) +
         VertexOfSide(shape(), std::uint64_t{base.vertices()}) * options_.shape.vertex_bytes +
         base.arcs() * (sizeof(VertexId) + options_.shape.edge_bytes);
}

std::string TransactionalGraph::Describe(const Table& table, Key key) const {
  const VertexName side = VertexOfKey(key);
  const VertexName vertex = VertexOfSide(shape(), side);
  if (&table == vertices_) return fmt::format("vertex {}", vertex);
  const char* const of = !shape().directed                               ? "of"
                         : DirectionOf(shape(), side) == Direction::kOut ? "from"
                                                                         : "to";
  return fmt::format("the edges {} vertex {}, block {}", of, vertex, BlockOfKey(key));
}

Result<TransactionalGraph::Census> TransactionalGraph::TakeCensus() {
  // An edge counts 1 seen from its smaller end and -1 from the other, times its fingerprint.
  std::uint64_t imbalance = 0;
  std::int64_t listed = 0;
  std::int64_t loops = 0;
  std::int64_t changed_vertices = 0;
  std::string wrong;
  ForEachRecord(engine_, *blocks_, [&](Key key, const std::byte* record) {
    if (record == nullptr) return;  // it was only looked for
    const VertexName vertex = VertexOfKey(key);
    const EdgeBlock block(shape(), const_cast<std::byte*>(record));
    std::int64_t change = 0;
    for (std::uint32_t i = 0; i < block.count(); ++i) {
      const EdgeEntry& entry = block.entry(i);
      if (entry.time == kTimePending) wrong = Describe(*blocks_, key) + " were never committed";
      if (block.Find(entry.neighbour) != &entry) continue;
      const std::int64_t counts = EdgeBlock::Counts(entry);
      change += counts;
      if (entry.neighbour == vertex) loops += counts;
      if (block.kind() == BlockKind::kDead && entry.alive != 0) {
        wrong = Describe(*blocks_, key) + " live, and the vertex does not";
      }
      if ((entry.alive == 0 && entry.in_base == 0) || entry.neighbour == vertex) continue;
      const std::uint64_t print =
          Fingerprint(vertex, entry.neighbour, entry, block.properties(entry), shape().edge_bytes);
      imbalance += vertex < entry.neighbour ? print : ~print + 1;
    }
    if (change != block.degree_change()) wrong = Describe(*blocks_, key) + " are counted wrongly";
    listed += change;
  });
  ForEachRecord(engine_, *vertices_, [&](Key key, const std::byte* record) {
    if (record == nullptr) return;
    VertexRecord vertex;
    std::memcpy(&vertex, record, sizeof vertex);
    const bool in_base = base_->DenseOf(VertexOfKey(key)).has_value();
    changed_vertices += static_cast<std::int64_t>(vertex.alive) - (in_base ? 1 : 0);
  });
  if (!wrong.empty()) return VerificationError("{}", wrong);
  std::uint64_t sums[4] = {imbalance, static_cast<std::uint64_t>(listed),
                           static_cast<std::uint64_t>(loops),
                           static_cast<std::uint64_t>(changed_vertices)};
  SLIM_TRY(engine_.cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
  if (sums[0] != 0) return VerificationError("an edge is on one side, and not on the other");
  Census census;
  census.vertices = VertexOfSide(shape(), base_->alive_vertices()) + sums[3];
  // A loop is listed once.
  const auto twice = static_cast<std::int64_t>(sums[1] + sums[2]);
  census.edges = base_->edges() + static_cast<std::uint64_t>(twice / 2);
  return census;
}

}  // namespace slimgraph::txn
