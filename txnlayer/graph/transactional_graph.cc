#include "txnlayer/graph/transactional_graph.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "txnlayer/graph/fold.h"

namespace slimgraph::txn {
namespace {

// After splits, blocks are one third full.
constexpr std::uint64_t kBlocksPerFull = 3;
// How much the base may grow by folds if its memory is allocated at once: all partitions together
// by the room for changes, and one by twice its share.
constexpr std::uint64_t kLargestShare = 2;
// With folds, at least one tuple in so many of the room is expected to be in use.
constexpr std::uint64_t kWhileFolded = 8;
// Keys are partitioned by number, so nodes get slightly different numbers of tuples.
constexpr std::uint64_t kSpare = 64;

// A hash of an edge that is the same seen from both ends.
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
  SLIM_TRY(CheckIndexes(options.indexes, options.shape.vertex_bytes));
  std::unique_ptr<TransactionalGraph> graph(new TransactionalGraph(engine, options));
  Cluster& cluster = engine.cluster();
  const std::uint64_t nodes = cluster.topology().nodes();
  const bool folds = options.fold_share > 0;
  // If memory is allocated on demand, each partition may grow to what the node has.
  const EdgeOffset growth = cluster.fabric().pages_on_demand()
                                ? engine.tables().most_bytes() / ArcBytes(options.shape)
                                : std::min(kLargestShare, nodes) * 2 * options.room_edges / nodes;
  SLIM_ASSIGN(graph->base_,
              BaseGraph::Load(cluster, source, options.shape, engine.options().replicas,
                              folds ? std::optional(growth) : std::nullopt));
  const BaseGraph& base = *graph->base_;
  // Reading a vertex creates its tuples, so room is needed for all blocks of the base's vertices.
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
    return engine.tables().Add(
        {.name = name,
         .record_bytes = bytes,
         .tuples_per_node = on_each(tuples),
         .most_tuples = kAsManyAsFit,
         .home_shift = kBlockBits,
         .expected_tuples = folds ? on_each(std::max(until_folded, tuples / kWhileFolded)) : 0,
         .neighbour_bits = kFanOutBits});
  };
  SLIM_ASSIGN(graph->vertices_, add_table("vertices", VertexRecordBytes(options.shape), vertices));
  SLIM_ASSIGN(graph->blocks_, add_table("edges", EdgeBlock::RecordBytes(options.shape), blocks));
  SLIM_ASSIGN(graph->indexes_, VertexIndexes::Make(engine, options.indexes, vertices));
  SLIM_TRY(graph->indexes_.Fill(*graph));
  if (folds) {
    graph->fold_worker_ = std::make_unique<FoldWorker>(*graph);
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
  if (table.spec().derived) return table.spec().name;
  const VertexName side = VertexOfKey(key);
  const VertexName vertex = VertexOfSide(shape(), side);
  if (&table == vertices_) return fmt::format("vertex {}", vertex);
  const char* const of = !shape().directed                               ? "of"
                         : DirectionOf(shape(), side) == Direction::kOut ? "from"
                                                                         : "to";
  return fmt::format("the edges {} vertex {}, block {}", of, vertex, BlockOfKey(key));
}

GraphTime TransactionalGraph::LatestInTables() const {
  GraphTime latest = 0;
  engine_.tables().ForEachRecord(*blocks_, [&](Key, const std::byte* record) {
    if (record == nullptr) return;
    const EdgeBlock block(shape(), const_cast<std::byte*>(record));
    latest = std::max(latest, block.written_at());
  });
  engine_.tables().ForEachRecord(*vertices_, [&](Key, const std::byte* record) {
    if (record == nullptr) return;
    VertexRecord vertex;
    std::memcpy(&vertex, record, sizeof vertex);
    latest = std::max(latest, vertex.time);
  });
  return latest;
}

GraphTime TransactionalGraph::LatestTime() {
  const std::size_t deaths = engine_.lost().size();
  if (std::exchange(deaths_seen_, deaths) != deaths) clock_.Saw(LatestInTables());
  return clock_.Next();
}

bool TransactionalGraph::HasSeenAllDeaths(const Cluster& cluster) const {
  return deaths_seen_ + cluster.topology().nodes() == engine_.cluster().topology().nodes();
}

Status TransactionalGraph::AdvanceClocks() {
  GraphTime latest = std::max(clock_.last(), LatestInTables());
  SLIM_ASSIGN(latest, engine_.cluster().all().AllMax(latest));
  clock_.Next(latest);
  return {};
}

Result<TransactionalGraph::Census> TransactionalGraph::TakeCensus() {
  // Every edge adds its fingerprint at one end and subtracts it at the other, so the sum is 0.
  std::uint64_t imbalance = 0;
  std::int64_t listed = 0;
  std::int64_t loops = 0;
  std::int64_t changed_vertices = 0;
  std::string wrong;
  engine_.tables().ForEachRecord(*blocks_, [&](Key key, const std::byte* record) {
    if (record == nullptr) return;  // an absent key that was looked for
    const VertexName vertex = VertexOfKey(key);
    const EdgeBlock block(shape(), const_cast<std::byte*>(record));
    std::int64_t change = 0;
    for (std::uint32_t i = 0; i < block.count(); ++i) {
      const EdgeEntry& entry = block.entry(i);
      if (entry.time == kTimePending) wrong = Describe(*blocks_, key) + " were never committed";
      if (block.Find(entry.neighbour) != &entry) continue;
      const std::int64_t counts = EdgeBlock::DegreeContribution(entry);
      change += counts;
      if (entry.neighbour == vertex) loops += counts;
      if (block.kind() == BlockKind::kDead && entry.alive != 0) {
        wrong = Describe(*blocks_, key) + " exist although the vertex was deleted";
      }
      if ((entry.alive == 0 && entry.in_base == 0) || entry.neighbour == vertex) continue;
      const std::uint64_t print =
          Fingerprint(vertex, entry.neighbour, entry, block.properties(entry), shape().edge_bytes);
      imbalance += vertex < entry.neighbour ? print : ~print + 1;
    }
    if (change != block.degree_change()) wrong = Describe(*blocks_, key) + " are counted wrongly";
    listed += change;
  });
  engine_.tables().ForEachRecord(*vertices_, [&](Key key, const std::byte* record) {
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
  if (sums[0] != 0) return VerificationError("an edge is stored at one of its two ends only");
  SLIM_TRY(indexes_.Check(*this));
  Census census;
  census.vertices = VertexOfSide(shape(), base_->alive_vertices()) + sums[3];
  // A loop appears in one list only.
  const auto twice = static_cast<std::int64_t>(sums[1] + sums[2]);
  census.edges = base_->edges() + static_cast<std::uint64_t>(twice / 2);
  return census;
}

}  // namespace slimgraph::txn
