#include "txnlayer/workload/internal/graph_workload.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "slimgraph/base/folders.h"
#include "txnlayer/disk/store.h"

namespace slimgraph::txn {
namespace {

// The default room for new edges: half of the edges, but at least a million.
constexpr std::uint64_t kLeastRoom = 1 << 20;
constexpr std::uint64_t kEdgesPerNewVertex = 8;

}  // namespace

Chooser::Chooser(TransactionalGraph& graph, Transaction& transaction, std::uint64_t seed,
                 std::uint64_t processes)
    : graph_(graph),
      base_(graph, transaction),
      random_(seed),
      next_fresh_(VertexOfSide(graph.shape(), graph.base().ids().largest()) + 1 +
                  transaction.process()),
      processes_(processes) {}

VertexName Chooser::ByDegree() {
  const BaseGraph& base = graph_.base();
  if (base.arcs() == 0) return Uniform();  // a fold has removed the last edge
  return VertexOfSide(graph_.shape(), base.NameOf(base.VertexOf(Below(random_, base.arcs()))));
}

VertexName Chooser::Uniform() { return Of(random_()); }

VertexName Chooser::Of(std::uint64_t number) const {
  const BaseGraph& base = graph_.base();
  return VertexOfSide(graph_.shape(), base.NameOf(static_cast<VertexId>(number % base.vertices())));
}

std::pair<VertexName, VertexName> Chooser::Edge() {
  const BaseGraph& base = graph_.base();
  if (base.arcs() == 0) {
    const VertexName loop = Uniform();
    return {loop, loop};
  }
  const auto [vertex, place] = base.Arc(Below(random_, base.arcs()));
  VertexId neighbour = vertex.dense;
  // If a node has died meanwhile, the edge is a loop at the vertex.
  if (!base_.ReadNeighbour(vertex, place, neighbour)) neighbour = vertex.dense;
  std::pair edge(base.NameOf(vertex.dense), base.NameOf(neighbour));
  const GraphShape& shape = graph_.shape();
  if (DirectionOf(shape, edge.first) == Direction::kIn) std::swap(edge.first, edge.second);
  return {VertexOfSide(shape, edge.first), VertexOfSide(shape, edge.second)};
}

VertexName Chooser::Fresh() {
  const VertexName fresh = next_fresh_;
  next_fresh_ += processes_;
  return fresh;
}

std::vector<std::byte> Chooser::Properties(std::uint32_t bytes) {
  std::vector<std::byte> properties(bytes);
  for (std::size_t at = 0; at < bytes; at += 8) {
    const std::uint64_t word = random_();
    std::memcpy(properties.data() + at, &word, std::min<std::size_t>(8, bytes - at));
  }
  return properties;
}

std::vector<std::byte> Chooser::EdgeProperties() {
  const GraphShape& shape = graph_.shape();
  std::vector<std::byte> properties = Properties(shape.edge_bytes);
  WithWeightType(shape.weights, [&](auto weight) {
    weight = static_cast<decltype(weight)>(1 + Below(random_, 255));
    std::memcpy(properties.data(), &weight, sizeof weight);
  });
  return properties;
}

std::size_t Chooser::Pick(std::span<const MixEntry> mix) {
  double all = 0;
  for (const MixEntry& entry : mix) all += entry.percent;
  double left = static_cast<double>(random_() >> 11) * 0x1p-53 * all;
  for (std::size_t i = 0; i < mix.size(); ++i) {
    left -= mix[i].percent;
    if (left < 0) return i;
  }
  return mix.size() - 1;
}

GraphClient::GraphClient(TransactionalGraph& graph, Transaction& transaction,
                         std::span<const MixEntry> mix, std::uint64_t seed, std::uint64_t processes)
    : graph_(graph),
      work_(graph, transaction),
      chooser_(graph, transaction, seed, processes),
      mix_(mix),
      counts_(mix.size()) {}

void GraphClient::Choose() {
  kind_ = chooser_.Pick(mix_);
  Prepare(kind_, chooser_);
  again_ = false;
}

Attempt GraphClient::Try(Transaction&) {
  work_.Open(again_);
  again_ = true;
  if (Do(kind_, work_) == Answer::kAborted || !work_.Commit()) return Attempt::kAborted;
  vertex_change_ += work_.vertex_change();
  edge_change_ += work_.edge_change();
  ++counts_[kind_];
  return Attempt::kCommitted;
}

Status GraphWorkload::Load(Engine& engine) {
  Cluster& cluster = engine.cluster();
  // If the store has updates, node 0 makes the image that all nodes then read. Where it may not
  // write, each node makes its own below.
  if (cluster.self() == 0 && CheckWritable(options_.store)) {
    SLIM_ASSIGN(const Store store, Store::Open(options_.store, Store::Use::kRead));
    SLIM_TRY(store.Image());
  }
  SLIM_TRY(cluster.all().Barrier());
  SLIM_ASSIGN(const Store store, Store::Open(options_.store, Store::Use::kRead));
  SLIM_ASSIGN(const DiskBase base, store.Image());
  if (base.file() == nullptr || base.file()->arcs() == 0) {
    return InputError("{}: it has no edges to choose from", options_.store);
  }
  GraphOptions graph;
  graph.shape = store.shape();
  graph.indexes = store.indexes();
  graph.journal = options_.note_updates;
  graph.fold_share = options_.fold_share;
  graph.room_edges = options_.rows != 0
                         ? options_.rows
                         : std::max<std::uint64_t>(kLeastRoom, base.file()->edges() / 2);
  graph.room_vertices = graph.room_edges / kEdgesPerNewVertex;
  processes_ = std::uint64_t{cluster.topology().nodes()} * cluster.threads() *
               engine.options().most_coroutines;
  SLIM_ASSIGN(graph_, TransactionalGraph::Make(engine, base, graph));
  SLIM_CHECK(graph_->vertices().id() == kVertexTable && graph_->blocks().id() == kBlockTable,
             "the store's graph is not the first of the engine");
  // The times of this run must be later than all updates of the store.
  graph_->clock().Saw(store.last());
  source_ = {base.identity(), store.id(), store.last(), " --store " + options_.store};
  before_ = {VertexOfSide(graph.shape, graph_->base().vertices()), graph_->base().edges()};
  return {};
}

Status GraphWorkload::Resume(Engine&, std::uint64_t) {
  SLIM_ASSIGN(before_, graph_->TakeCensus());
  return {};
}

void GraphWorkload::Collect(Client& client) {
  const auto& one = static_cast<GraphClient&>(client);
  vertex_change_ += one.vertex_change();
  edge_change_ += one.edge_change();
  updates_.insert(updates_.end(), one.journal().begin(), one.journal().end());
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += one.counts()[i];
}

// The used memory of the tables and the whole memory of the base. And the size that the base would
// have as CSR arrays.
Status GraphWorkload::MeasureMemory(Engine& engine) {
  const BaseGraph& base = graph_->base();
  memory_ = {{"lists", base.list_bytes()},
             {"properties", base.property_bytes()},
             {"vertices", graph_->vertices().resident_bytes()},
             {"blocks", graph_->blocks().resident_bytes()}};
  for (const VertexIndexes::Index& index : graph_->indexes().all()) {
    memory_.emplace_back("index " + index.property.name, index.keys->leaves().resident_bytes());
  }
  for (auto& [what, bytes] : memory_) {
    SLIM_ASSIGN(bytes, engine.cluster().all().AllSum(bytes));
  }
  memory_.emplace_back("csr", (std::uint64_t{base.vertices()} + 1) * sizeof(EdgeOffset) +
                                  base.arcs() * sizeof(VertexId));
  return {};
}

Status GraphWorkload::Verify(Engine& engine) {
  SLIM_TRY(MeasureMemory(engine));
  std::vector<std::uint64_t> sums = counts_;
  sums.push_back(static_cast<std::uint64_t>(vertex_change_));
  sums.push_back(static_cast<std::uint64_t>(edge_change_));
  SLIM_TRY(engine.cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
  const std::uint64_t edges = before_.edges + sums.back();
  const std::uint64_t vertices = before_.vertices + sums[sums.size() - 2];
  sums.resize(counts_.size());
  all_counts_ = std::move(sums);
  SLIM_ASSIGN(const auto census, graph_->TakeCensus());
  // The counts of the clients of a dead node are unknown.
  if (engine.tables().view().losses() > 0) return {};
  if (census.vertices == vertices && census.edges == edges) return {};
  return VerificationError(
      "{}: there are {} vertices and {} edges, and the commits have made {} and {}", name(),
      census.vertices, census.edges, vertices, edges);
}

std::vector<std::pair<std::string, std::uint64_t>> GraphWorkload::Counts() const {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < all_counts_.size(); ++i) {
    counts.emplace_back(mix_[i].name, all_counts_[i]);
  }
  return counts;
}

}  // namespace slimgraph::txn
