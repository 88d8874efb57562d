#include "txnlayer/graph/fold.h"

#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/graph/partition.h"
#include "txnlayer/graph/base_writer.h"
#include "txnlayer/graph/moment.h"

namespace slimgraph::txn {
namespace {

// How often it is looked whether changes have become many.
constexpr std::chrono::milliseconds kLook{10};
// For so many tuples one at the least has been written: the rest were only looked for, and would be
// again.
constexpr std::uint64_t kTuplesPerWrite = 2;

}  // namespace

Result<std::unique_ptr<Folder>> Folder::Make(TransactionalGraph& graph) {
  std::unique_ptr<Folder> folder(new Folder(graph));
  Cluster& transactions = graph.engine().cluster();
  ClusterOptions options = transactions.options();
  options.threads = 1;
  options.serving_threads = 0;
  SLIM_ASSIGN(folder->cluster_, Cluster::Start(transactions.job(), options));
  const std::uint64_t most =
      graph.blocks().spec().tuples_per_node * EdgeBlock::Capacity(graph.shape()) + 1;
  SLIM_ASSIGN(
      const SharedRegion outbox,
      folder->cluster_->fabric().Share(most * (sizeof(EdgeChange) + graph.shape().edge_bytes)));
  folder->outbox_ = outbox.id;
  return folder;
}

Folder::~Folder() {
  if (thread_.joinable()) thread_.join();
}

void Folder::Start() {
  figures_ = {};
  graph_.engine().ExpectRun();
  thread_ = std::thread([this] {
    done_ = Work();
    // At once, for the others wait for this node.
    if (!done_) cluster_->job().Fail(done_.error());
  });
}

Status Folder::Finish() {
  if (thread_.joinable()) thread_.join();
  return done_;
}

Status Folder::Work() {
  const Table& blocks = graph_.blocks();
  const Table& vertices = graph_.vertices();
  for (bool over = false; !over;) {
    const bool ended = graph_.engine().AwaitEnd(kLook);
    std::uint64_t sums[] = {blocks.used_bytes() + vertices.used_bytes(),
                            blocks.tuples() + vertices.tuples(), graph_.written(), ended ? 1U : 0U};
    SLIM_TRY(cluster_->all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
    over = sums[3] == cluster_->topology().nodes();
    // What the last fold has left, another would leave as well.
    const double most = graph_.options().fold_share * static_cast<double>(graph_.BaseBytes()) +
                        static_cast<double>(left_bytes_);
    const bool many = static_cast<double>(sums[0]) > most && sums[2] * kTuplesPerWrite > sums[1];
    if (!many || full_) continue;
    SLIM_TRY(Fold());
    SLIM_ASSIGN(left_bytes_, cluster_->all().AllSum(left_bytes_));
  }
  return {};
}

Status Folder::Fold() {
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const GraphTurn turn, GraphTurn::Take(*cluster_, graph_));
  graph_.TakeWritten();
  const auto pin = [&](GraphTime time) -> Status {
    graph_.Pin(time);
    return {};
  };
  SLIM_ASSIGN(const Moment first, AtMoment(*cluster_, graph_, pin));
  SLIM_ASSIGN(const VertexChanges vertices, FindVertices(*cluster_, graph_, first.time));
  BaseGraph::Next next = graph_.base().NextVertices(vertices.added, vertices.deleted);
  SLIM_ASSIGN(const EdgeChanges changes, TakeChanges(first.time, next));
  SLIM_ASSIGN(const bool fits, WriteNext(changes, next));
  full_ = !fits;
  const BaseGraph::Regions before = graph_.base().regions(0);
  const auto take_over = [&](GraphTime) -> Status {
    graph_.Unpin();
    if (!fits) return {};
    Residue residue(graph_, first.time, next);
    graph_.base().Switch(std::move(next));
    graph_.engine().ForgetTuples();
    SLIM_TRY(residue.PutBack());
    const std::uint64_t tuples = graph_.blocks().tuples() + graph_.vertices().tuples();
    const std::uint64_t bytes = graph_.blocks().used_bytes() + graph_.vertices().used_bytes();
    left_bytes_ = bytes / std::max<std::uint64_t>(tuples, 1) * std::min(residue.stays(), tuples);
    return {};
  };
  SLIM_ASSIGN(const Moment second, AtMoment(*cluster_, graph_, take_over));
  const BaseGraph::Regions& unused = full_ ? graph_.base().spare() : before;
  Fabric& fabric = graph_.engine().cluster().fabric();
  for (const RegionId region :
       {unused.lists, unused.edge_properties, unused.time_marks, unused.edge_times}) {
    fabric.Clear(region);
  }
  if (!full_) ++figures_.folds;
  figures_.seconds += SecondsSince(start_ns);
  figures_.longest_pause_s = std::max({figures_.longest_pause_s, first.seconds, second.seconds});
  return {};
}

// Those of the lists that this node holds.
Result<EdgeChanges> Folder::TakeChanges(GraphTime at, const BaseGraph::Next& next) {
  const NodeId nodes = cluster_->topology().nodes();
  const EdgeChanges found = FindEdges(graph_, at, true, [&](VertexName one, VertexName other) {
    return HasPlaces(next, one, other);
  });
  Fabric& fabric = cluster_->fabric();
  auto mine = DealOut(
      *cluster_, found, graph_.shape().edge_bytes,
      [&](VertexName vertex) { return *next.ids.Find(vertex) % nodes; },
      [&](std::uint64_t bytes) -> Result<SharedRegion> {
        return SharedRegion{outbox_, fabric.own_region(outbox_).first(bytes)};
      });
  if (!mine) return mine;
  SLIM_TRY(cluster_->all().Barrier());  // all have read
  fabric.Clear(outbox_);
  return mine;
}

Result<bool> Folder::WriteNext(const EdgeChanges& changes, BaseGraph::Next& next) {
  Collectives& all = cluster_->all();
  const NodeId nodes = cluster_->topology().nodes();
  BaseWriter writer(graph_, next.ids);
  const HashPartition partition(next.ids.count(), nodes, 1);
  const VertexPart part = partition.part(cluster_->self());
  auto change = changes.edges.begin();
  const auto end = changes.edges.end();
  bool fits = true;
  for (VertexId local = 0; local < part.count && fits; ++local) {
    const VertexName name = next.ids[part[local]];
    const auto first = change;
    while (change != end && change->vertex() == name) ++change;
    fits = writer.AddList(part[local], std::span(first, change), changes.properties);
  }
  const BaseWriter::Sums& sums = writer.sums();
  std::uint64_t numbers[] = {fits ? 0U : 1U, sums.arcs, sums.loops, sums.known,
                             sums.with_properties};
  SLIM_TRY(all.AllReduce(std::span<std::uint64_t>(numbers), std::plus<>()));
  if (numbers[0] > 0) return false;
  next.arcs = numbers[1];
  next.edges = (numbers[1] - numbers[2]) / 2 + numbers[2];
  next.has_edge_times = numbers[3] > 0;
  next.has_edge_properties = numbers[4] > 0;
  next.list_bytes = sums.arcs * sizeof(VertexId);
  next.property_bytes = writer.PropertyBytes(next);
  SLIM_ASSIGN(const auto lengths, all.AllGather(std::as_bytes(writer.lengths())));
  for (const auto& theirs : lengths) {
    CompactOffsets& index = next.index.emplace_back(ListCode(next.ids.count()));
    std::vector<std::uint32_t> each(theirs.size() / sizeof(std::uint32_t));
    if (!each.empty()) std::memcpy(each.data(), theirs.data(), theirs.size());
    index.Reserve(static_cast<VertexId>(each.size()));
    for (const std::uint32_t length : each) index.Append(length);
    index.Finish();
    next.list_bytes += index.bytes();
  }
  return true;
}

}  // namespace slimgraph::txn
