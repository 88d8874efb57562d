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
// Logs on disk are not long before they have so many bytes, on all nodes.
constexpr double kLongLog = 64 << 20;

std::uint64_t UsedBytes(const Table& table, Rank rank) { return table.used_bytes(rank); }
std::uint64_t Tuples(const Table& table, Rank rank) { return table.tuples(rank); }

// Of exchanges beside those of the job and of snapshots.
constexpr std::uint32_t kLine = 1;

}  // namespace

Folder::~Folder() {
  if (thread_.joinable()) thread_.join();
}

void Folder::Start() {
  figures_ = {};
  graph_.engine().ExpectRun();
  thread_ = std::thread([this] { done_ = Work(); });
}

Status Folder::Finish() {
  if (thread_.joinable()) thread_.join();
  return done_;
}

Status Folder::Work() {
  Job& whole = graph_.engine().cluster().job();
  SLIM_TRY(whole.WorkAmongTheLiving(kLine, [&](Job& part) {
    Status done = WorkAmong(part);
    if (!done && part.GiveUp(done.error())) whole.Fail(done.error());
    cluster_.reset();
    return done;
  }));
  return {};
}

Status Folder::WorkAmong(Job& job) {
  ClusterOptions options = graph_.engine().cluster().OptionsBeside();
  options.threads = 1;
  options.serving_threads = 0;
  SLIM_ASSIGN(cluster_, Cluster::Start(job, options));
  // Of as many partitions as there are copies may a node have to tell all that have one.
  const std::uint64_t replicas = graph_.engine().options().replicas;
  const std::uint64_t most = replicas * replicas * graph_.blocks().spec().tuples_per_node *
                                 EdgeBlock::Capacity(graph_.shape()) +
                             1;
  SLIM_ASSIGN(const SharedRegion outbox,
              cluster_->fabric().Share(most * (sizeof(EdgeChange) + graph_.shape().edge_bytes)));
  outbox_ = outbox.id;
  for (bool over = false; !over;) {
    SLIM_ASSIGN(const bool many, ChangesAreMany(over));
    if (many) SLIM_TRY(Fold());
  }
  return cluster_->Stop();
}

// Over all that this node holds, copies too.
std::uint64_t Folder::Sum(std::uint64_t (*of)(const Table&, Rank)) const {
  std::uint64_t sum = 0;
  for (Rank rank = 0; rank < graph_.engine().options().replicas; ++rank) {
    sum += of(graph_.blocks(), rank) + of(graph_.vertices(), rank);
  }
  return sum;
}

// Or the logs on disk have become long, which a fold begins anew. `over`: the run has ended on all
// nodes.
Result<bool> Folder::ChangesAreMany(bool& over) {
  const bool ended = graph_.engine().AwaitEnd(kLook);
  Durability* const logs = graph_.engine().durability();
  std::uint64_t sums[] = {Sum(UsedBytes),
                          Sum(Tuples),
                          graph_.written(),
                          left_bytes_,
                          logs == nullptr ? 0 : logs->commit_bytes(),
                          full_ ? 1U : 0U,
                          ended ? 1U : 0U};
  SLIM_TRY(cluster_->all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
  over = sums[6] == cluster_->topology().nodes();
  const std::uint64_t replicas = graph_.engine().options().replicas;
  const auto base = static_cast<double>(replicas * graph_.BaseBytes());
  // What the last fold has left, another would leave as well.
  const double most = graph_.options().fold_share * base + static_cast<double>(sums[3]);
  const bool many =
      static_cast<double>(sums[0]) > most && replicas * sums[2] * kTuplesPerWrite > sums[1];
  const bool long_logs = static_cast<double>(sums[4]) > std::max(base, kLongLog);
  return sums[5] == 0 && (many || long_logs);
}

Status Folder::Fold() {
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const GraphTurn turn, GraphTurn::Take(*cluster_, graph_));
  const std::uint64_t written = graph_.TakeWritten();
  bool fits = true;
  bool switched = false;
  const Status done = FoldInTurn(fits, switched);
  graph_.Unpin();
  ClearSpare();
  if (switched) {
    ++figures_.folds;
  } else {
    graph_.CountWritten(written);
  }
  figures_.seconds += SecondsSince(start_ns);
  full_ = !fits;
  Durability* const logs = graph_.engine().durability();
  if (logs != nullptr && !switched) logs->DropNext();
  SLIM_TRY(done);
  return switched && logs != nullptr ? logs->RemoveBefore() : Status();
}

// Whichever lists are not read: what was, or what was written in vain.
void Folder::ClearSpare() {
  Fabric& fabric = graph_.engine().cluster().fabric();
  for (Rank rank = 0; rank < graph_.engine().options().replicas; ++rank) {
    const BaseGraph::Regions& unused = graph_.base().spare(rank);
    for (const RegionId region : {unused.lists, unused.edge_marks, unused.edge_records}) {
      fabric.Clear(region);
    }
  }
}

Status Folder::FoldInTurn(bool& fits, bool& switched) {
  PartitionHolders holders;
  const auto pin = [&](GraphTime time) -> Status {
    graph_.Pin(time);
    holders = PartitionHolders(*cluster_, graph_.engine().view());
    return {};
  };
  SLIM_ASSIGN(const Moment first, AtMoment(*cluster_, graph_, pin));
  SLIM_ASSIGN(const VertexChanges vertices, FindVertices(*cluster_, graph_, holders, first.time));
  BaseGraph::Next next = graph_.base().NextVertices(vertices.added, vertices.deleted);
  SLIM_ASSIGN(const EdgeChanges changes, TakeChanges(holders, first.time, next));
  SLIM_ASSIGN(fits, WriteNext(*cluster_, holders, changes, next));
  if (fits && graph_.engine().durability() != nullptr) SLIM_TRY(WriteAside(changes, next));
  const auto take_over = [&](GraphTime) -> Status {
    graph_.Unpin();
    if (!fits) return {};
    return TakeOver(first.time, std::move(next), switched);
  };
  SLIM_ASSIGN(const Moment second, AtMoment(*cluster_, graph_, take_over));
  figures_.longest_pause_s = std::max({figures_.longest_pause_s, first.seconds, second.seconds});
  return {};
}

// But for the question whether all are as far, without a word to other nodes: so no death leaves it
// half done among them. On disk the next log counts from when the first node has taken it, and then
// it is there on all.
Status Folder::TakeOver(GraphTime at, BaseGraph::Next next, bool& switched) {
  Engine& engine = graph_.engine();
  Durability* const logs = engine.durability();
  engine.TakeInLogs();
  Residue residue(graph_, at, next);
  BaseGraph::Next before = graph_.base().Switch(std::move(next));
  const auto all_can = [&]() -> Result<bool> {
    SLIM_TRY(residue.Make());
    if (logs != nullptr) {
      std::vector<std::uint64_t> words;
      const std::uint64_t records = residue.AddRecords(words);
      SLIM_TRY(logs->FinishNext(words, records));
    }
    return cluster_->job().AllHaveCome();
  };
  const Result<bool> all = all_can();
  if (!all || !*all) {
    static_cast<void>(graph_.base().Switch(std::move(before)));
    if (!all) return tl::unexpected<Error>(all.error());
    return EnvironmentError("a fold was given up, for a node has died");
  }
  switched = true;
  engine.ForgetTuples();
  SLIM_TRY(residue.PutBack());
  const std::uint64_t tuples = Sum(Tuples);
  const std::uint64_t bytes = Sum(UsedBytes);
  left_bytes_ = bytes / std::max<std::uint64_t>(tuples, 1) * std::min(residue.stays(), tuples);
  return logs == nullptr ? Status() : logs->TakeNext();
}

// Those of the lists that this node holds.
Result<EdgeChanges> Folder::TakeChanges(const PartitionHolders& holders, GraphTime at,
                                        const BaseGraph::Next& next) {
  const NodeId partitions = graph_.engine().view().nodes();
  EdgeChanges found = FindEdges(graph_, holders, at, true, [&](VertexName one, VertexName other) {
    return HasPlaces(next, one, other);
  });
  Fabric& fabric = cluster_->fabric();
  auto mine = DealOut(
      *cluster_, std::move(found), graph_.shape().edge_bytes,
      [&](VertexName vertex) -> std::span<const NodeId> {
        return holders.all[*next.ids.Find(vertex) % partitions];
      },
      [&](std::uint64_t bytes) -> Result<SharedRegion> {
        return SharedRegion{outbox_, fabric.own_region(outbox_).first(bytes)};
      });
  if (!mine) return mine;
  SLIM_TRY(cluster_->all().Barrier());  // all have read
  fabric.Clear(outbox_);
  return mine;
}

Result<bool> Folder::WriteNext(Cluster& cluster, const PartitionHolders& holders,
                               const EdgeChanges& changes, BaseGraph::Next& next) {
  Collectives& all = cluster.all();
  const auto partitions = static_cast<NodeId>(holders.holder.size());
  const HashPartition partition(next.ids.count(), partitions, 1);
  std::vector<std::uint32_t> my_lengths;  // of the partitions of which this node tells
  // Does it not fit; arcs, loops, and arcs of which more is known.
  std::uint64_t numbers[4] = {};
  for (const auto& [number, rank] : holders.held) {
    BaseWriter writer(graph_, next.ids, rank);
    const VertexPart part = partition.part(number);
    auto change = changes.edges.begin();
    const auto end = changes.edges.end();
    bool fits = true;
    for (VertexId local = 0; local < part.count && fits; ++local) {
      const VertexName name = next.ids[part[local]];
      while (change != end && change->vertex() < name) ++change;
      const auto first = change;
      while (change != end && change->vertex() == name) ++change;
      fits = writer.AddList(part[local], std::span(first, change), changes.properties);
    }
    const BaseWriter::Sums& sums = writer.sums();
    numbers[0] += fits ? 0 : 1;
    next.list_bytes += sums.arcs * sizeof(VertexId);
    next.property_bytes += writer.PropertyBytes();
    if (holders.holder[number] != cluster.self()) continue;
    const std::uint64_t mine[] = {sums.arcs, sums.loops, writer.known()};
    for (std::size_t i = 0; i < std::size(mine); ++i) numbers[1 + i] += mine[i];
    my_lengths.insert(my_lengths.end(), writer.lengths().begin(), writer.lengths().end());
  }
  SLIM_TRY(all.AllReduce(std::span<std::uint64_t>(numbers), std::plus<>()));
  if (numbers[0] > 0) return false;
  next.arcs = numbers[1];
  next.edges = (numbers[1] - numbers[2]) / 2 + numbers[2];
  next.has_marks = numbers[3] > 0;
  SLIM_ASSIGN(const auto lengths, all.AllGather(std::as_bytes(std::span(my_lengths))));
  std::vector<const std::byte*> told;
  for (const auto& theirs : lengths) told.push_back(theirs.data());
  for (NodeId number = 0; number < partitions; ++number) {
    CompactOffsets& index = next.index.emplace_back(ListCode(next.ids.count()));
    const VertexId count = partition.part(number).count;
    index.Reserve(count);
    for (VertexId i = 0; i < count; ++i) {
      std::uint32_t length;
      std::memcpy(&length, told[holders.holder[number]], sizeof length);
      told[holders.holder[number]] += sizeof length;
      index.Append(length);
    }
    index.Finish();
    next.list_bytes += index.bytes();
  }
  return true;
}

}  // namespace slimgraph::txn
