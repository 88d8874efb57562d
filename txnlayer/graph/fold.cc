#include "txnlayer/graph/fold.h"

#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/graph/partition.h"
#include "txnlayer/graph/internal/base_writer.h"
#include "txnlayer/graph/internal/moments.h"

namespace slimgraph::txn {
namespace {

// How often the folder checks whether there are many changes.
constexpr std::chrono::milliseconds kCheckInterval{10};
// A fold needs at least one write per this many tuples. The other tuples exist only because
// transactions looked for absent keys; they would soon come back.
constexpr std::uint64_t kTuplesPerWrite = 2;
// Logs on disk shorter than this, on all nodes together, are not folded.
constexpr double kLongLog = 64 << 20;

std::uint64_t UsedBytes(const Table& table, Rank rank) { return table.used_bytes(rank); }
std::uint64_t Tuples(const Table& table, Rank rank) { return table.tuples(rank); }

// The control plane's channel for exchanges of folds. The job and snapshots have other channels.
constexpr std::uint32_t kPartTag = 1;

// The changes of a vertex, by its dense id.
struct ChangesOfVertex {
  VertexId dense;
  std::span<const EdgeChange> edges;
};

// Groups changes that are sorted by name.
std::vector<ChangesOfVertex> ByDenseId(std::span<const EdgeChange> edges, const DenseIdMap& ids) {
  std::vector<ChangesOfVertex> by_dense_id;
  for (std::size_t first = 0, end = 0; first < edges.size(); first = end) {
    while (end < edges.size() && edges[end].vertex() == edges[first].vertex()) ++end;
    const auto dense = ids.Find(edges[first].vertex());
    if (dense) by_dense_id.push_back({*dense, edges.subspan(first, end - first)});
  }
  std::sort(by_dense_id.begin(), by_dense_id.end(),
            [](const auto& one, const auto& other) { return one.dense < other.dense; });
  return by_dense_id;
}

}  // namespace

FoldWorker::~FoldWorker() {
  if (thread_.joinable()) thread_.join();
}

void FoldWorker::Start() {
  folds_ = 0;
  figures_ = {};
  graph_.engine().ExpectRun();
  thread_ = Thread([this] { done_ = Work(); });
}

Status FoldWorker::Finish() {
  if (thread_.joinable()) thread_.join();
  return done_;
}

Status FoldWorker::Work() {
  Job& whole = graph_.engine().cluster().job();
  SLIM_TRY(whole.RunAmongSurvivors(kPartTag, [&](Job& part) {
    Status done = WorkAmong(part);
    if (!done && part.AbortPart(done.error())) graph_.engine().FailJob(done.error());
    cluster_.reset();
    return done;
  }));
  return {};
}

Status FoldWorker::WorkAmong(Job& job) {
  ClusterOptions options = graph_.engine().cluster().OptionsForAnother();
  options.threads = 1;
  options.serving_threads = 0;
  SLIM_ASSIGN(cluster_, Cluster::Start(job, options));
  // A node may be the primary of `replicas` partitions, and send their changes to all copies.
  const std::uint64_t replicas = graph_.engine().options().replicas;
  const std::uint64_t most =
      replicas * replicas * graph_.blocks().most_room() * EdgeBlock::Capacity(graph_.shape()) + 1;
  SLIM_ASSIGN(const SharedRegion outbox,
              cluster_->fabric().Share(most * (sizeof(EdgeChange) + graph_.shape().edge_bytes)));
  outbox_ = outbox.id;
  for (bool over = false; !over;) {
    SLIM_ASSIGN(const bool many, ShouldFold(over));
    if (many) SLIM_TRY(Fold());
  }
  return cluster_->Stop();
}

// Sums over the partitions and copies on this node.
std::uint64_t FoldWorker::Sum(std::uint64_t (*of)(const Table&, Rank)) const {
  std::uint64_t sum = 0;
  for (Rank rank = 0; rank < graph_.engine().options().replicas; ++rank) {
    sum += of(graph_.blocks(), rank) + of(graph_.vertices(), rank);
  }
  return sum;
}

// Whether to fold: there are many changes, or the logs on disk are long, which a fold begins anew.
// `over`: the run has ended on all nodes.
Result<bool> FoldWorker::ShouldFold(bool& over) {
  const bool ended = graph_.engine().AwaitRunEnd(kCheckInterval);
  Durability* const logs = graph_.engine().durability();
  std::uint64_t sums[] = {Sum(UsedBytes),
                          Sum(Tuples),
                          graph_.written(),
                          unfoldable_bytes_,
                          logs == nullptr ? 0 : logs->commit_bytes(),
                          full_ ? 1U : 0U,
                          ended ? 1U : 0U};
  SLIM_TRY(cluster_->all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
  over = sums[6] == cluster_->topology().nodes();
  const std::uint64_t replicas = graph_.engine().options().replicas;
  const auto base = static_cast<double>(replicas * graph_.BaseBytes());
  // A fold cannot remove what the last fold left.
  const double most = graph_.options().fold_share * base + static_cast<double>(sums[3]);
  const bool many =
      static_cast<double>(sums[0]) > most && replicas * sums[2] * kTuplesPerWrite > sums[1];
  const bool long_logs = static_cast<double>(sums[4]) > std::max(base, kLongLog);
  return sums[5] == 0 && (many || long_logs);
}

Status FoldWorker::Fold() {
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const GraphTurn turn, GraphTurn::Take(*cluster_, graph_));
  const std::uint64_t written = graph_.TakeWritten();
  bool fits = true;
  bool switched = false;
  const Status done = FoldHoldingTurn(fits, switched);
  graph_.Unpin();
  ClearSpare();
  if (switched) {
    ++folds_;
  } else {
    graph_.CountWritten(written);
  }
  figures_.seconds += SecondsSince(start_ns);
  full_ = !fits;
  Durability* const logs = graph_.engine().durability();
  if (logs != nullptr && !switched) logs->DiscardNext();
  SLIM_TRY(done);
  return switched && logs != nullptr ? logs->RemovePrevious() : Status();
}

// Clears the lists that are not in use: the previous ones, or those of a fold that was given up.
void FoldWorker::ClearSpare() {
  Fabric& fabric = graph_.engine().cluster().fabric();
  for (Rank rank = 0; rank < graph_.engine().options().replicas; ++rank) {
    const BaseGraph::Regions& unused = graph_.base().spare(rank);
    for (const RegionId region : {unused.lists, unused.edge_marks, unused.edge_records}) {
      fabric.Clear(region);
    }
  }
}

Status FoldWorker::FoldHoldingTurn(bool& fits, bool& switched) {
  PartitionHolders holders;
  const auto pin = [&](GraphTime time) -> Status {
    graph_.Pin(time);
    SLIM_ASSIGN(holders, PartitionHolders::Find(*cluster_, graph_.engine().view()));
    return {};
  };
  SLIM_ASSIGN(const Moment first, BetweenCommits(*cluster_, graph_, pin));
  SLIM_ASSIGN(const VertexChanges vertices, FindVertices(*cluster_, graph_, holders, first.time));
  BaseGraph::Contents next = graph_.base().AfterVertexChanges(vertices.added, vertices.deleted);
  SLIM_ASSIGN(EdgeChanges changes, CollectChanges(holders, first.time, next));
  SLIM_ASSIGN(fits, WriteNext(*cluster_, holders, changes, next));
  if (fits && graph_.engine().durability() != nullptr) {
    SLIM_TRY(WriteAside(std::move(changes), next, first.time));
  }
  Status logged;
  const auto switch_to_next = [&](GraphTime) -> Status {
    graph_.Unpin();
    if (!fits) return {};
    return SwitchToNext(first.time, std::move(next), switched, logged);
  };
  const auto second = StopTheWorld(*cluster_, graph_, switch_to_next);
  if (!logged) {
    graph_.engine().FailJob(logged.error());  // even if a node has died meanwhile
    return logged;
  }
  if (!second) return tl::unexpected<Error>(second.error());
  figures_.longest_pause_s = std::max(figures_.longest_pause_s, second->seconds);
  return {};
}

// Communicates only to ask whether all nodes have come this far, so a death cannot leave some nodes
// with the next lists and others without. On disk, the next log is valid once the first node has
// switched to it. By then it is complete on all nodes. If the job fails, this node may not learn
// whether another has switched.
//
// `logged`: whether this node's log was switched. A failure ends the job, but only after the stop:
// otherwise this node's transactions would read tables that other nodes are still changing.
Status FoldWorker::SwitchToNext(GraphTime at, BaseGraph::Contents next, bool& switched,
                                Status& logged) {
  Engine& engine = graph_.engine();
  Durability* const logs = engine.durability();
  engine.ApplyLogs();
  Residue residue(graph_, at, next);
  BaseGraph::Contents before = graph_.base().Switch(std::move(next));
  const auto all_can = [&]() -> Result<bool> {
    SLIM_TRY(residue.Compute());
    if (logs != nullptr) {
      std::vector<std::uint64_t> words;
      const std::uint64_t records = residue.AppendLogRecords(words);
      SLIM_TRY(logs->CompleteNext(words, records));
    }
    const Result<bool> reached = cluster_->job().AllReached();
    if (!reached && logs != nullptr) logs->StopInDoubt();
    return reached;
  };
  const Result<bool> all = all_can();
  if (!all || !*all) {
    static_cast<void>(graph_.base().Switch(std::move(before)));
    if (!all) return tl::unexpected<Error>(all.error());
    return EnvironmentError("a fold was given up because a node has died");
  }
  switched = true;
  engine.ForgetTuples();
  residue.Install();
  const std::uint64_t tuples = Sum(Tuples);
  const std::uint64_t bytes = Sum(UsedBytes);
  unfoldable_bytes_ =
      bytes / std::max<std::uint64_t>(tuples, 1) * std::min(residue.unfoldable_tuples(), tuples);
  if (logs != nullptr) logged = logs->SwitchToNext();
  return {};
}

// Collects the changes of the lists that this node holds.
Result<EdgeChanges> FoldWorker::CollectChanges(const PartitionHolders& holders, GraphTime at,
                                               const BaseGraph::Contents& next) {
  const NodeId partitions = graph_.engine().tables().view().nodes();
  EdgeChanges found = FindEdges(graph_, holders, at, true, [&](VertexName one, VertexName other) {
    return HaveDenseIds(next, one, other);
  });
  Fabric& fabric = cluster_->fabric();
  auto mine = SendToHolders(
      *cluster_, std::move(found), graph_.shape().edge_bytes,
      [&](VertexName vertex) -> std::span<const NodeId> {
        return holders.nodes_of[*next.ids.Find(vertex) % partitions];
      },
      [&](std::uint64_t bytes) -> Result<SharedRegion> {
        return SharedRegion{outbox_, fabric.own_region(outbox_).first(bytes)};
      });
  if (!mine) return mine;
  SLIM_TRY(cluster_->all().Barrier());  // all nodes have read the outbox
  fabric.Clear(outbox_);
  return mine;
}

Result<bool> FoldWorker::WriteNext(Cluster& cluster, const PartitionHolders& holders,
                                   const EdgeChanges& changes, BaseGraph::Contents& next) {
  Collectives& all = cluster.all();
  const auto partitions = static_cast<NodeId>(holders.primary_of.size());
  const HashPartition partition(next.ids.count(), partitions, 1);
  const auto by_dense_id = ByDenseId(changes.edges, next.ids);
  std::vector<std::uint32_t> my_lengths;  // of the partitions for which this node is the primary
  // Partitions and nodes without room; arcs, loops and marked arcs.
  std::uint64_t numbers[4] = {};
  const BaseGraph& base = graph_.base();
  const std::uint64_t bytes =
      base.list_bytes() + base.property_bytes() + changes.edges.size() * ArcBytes(graph_.shape());
  const bool has_memory = bytes <= graph_.engine().tables().memory_left();
  numbers[0] += has_memory ? 0 : 1;
  for (const auto& [number, rank] : holders.copies) {
    BaseWriter writer(graph_, next.ids, rank);
    const VertexPart part = partition.part(number);
    auto change = by_dense_id.begin();
    bool fits = has_memory;
    for (VertexId local = 0; local < part.count && fits; ++local) {
      const VertexId dense = part[local];
      while (change != by_dense_id.end() && change->dense < dense) ++change;
      const bool changes_it = change != by_dense_id.end() && change->dense == dense;
      fits = writer.AddList(dense, changes_it ? change->edges : std::span<const EdgeChange>(),
                            changes.properties);
    }
    const BaseWriter::Sums& sums = writer.sums();
    numbers[0] += fits ? 0 : 1;
    next.list_bytes += sums.arcs * sizeof(VertexId);
    next.property_bytes += writer.PropertyBytes();
    if (holders.primary_of[number] != cluster.self()) continue;
    const std::uint64_t mine[] = {sums.arcs, sums.loops, writer.marked()};
    for (std::size_t i = 0; i < std::size(mine); ++i) numbers[1 + i] += mine[i];
    my_lengths.insert(my_lengths.end(), writer.lengths().begin(), writer.lengths().end());
  }
  SLIM_TRY(all.AllReduce(std::span<std::uint64_t>(numbers), std::plus<>()));
  if (numbers[0] > 0) return false;
  next.arcs = numbers[1];
  next.edges = (numbers[1] - numbers[2]) / 2 + numbers[2];
  next.has_marks = numbers[3] > 0;
  SLIM_ASSIGN(const auto lengths, all.AllGather(std::as_bytes(std::span(my_lengths))));
  std::vector<const std::byte*> next_length;
  for (const auto& theirs : lengths) next_length.push_back(theirs.data());
  for (NodeId number = 0; number < partitions; ++number) {
    CompactOffsets& index = next.index.emplace_back(ListCode(next.ids.count()));
    const VertexId count = partition.part(number).count;
    index.Reserve(count);
    for (VertexId i = 0; i < count; ++i) {
      std::uint32_t length;
      std::memcpy(&length, next_length[holders.primary_of[number]], sizeof length);
      next_length[holders.primary_of[number]] += sizeof length;
      index.Append(length);
    }
    index.Finish();
    next.list_bytes += index.bytes();
  }
  return true;
}

}  // namespace slimgraph::txn
