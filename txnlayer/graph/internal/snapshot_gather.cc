#include "txnlayer/graph/internal/snapshot_gather.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "slimgraph/base/sync.h"
#include "slimgraph/base/words.h"

namespace slimgraph::txn {
namespace {

// Up to kFew changes are sorted directly. More are partitioned into buckets of about kPerBucket
// changes, at most kMaxBuckets.
constexpr std::size_t kFew = 64;
constexpr std::size_t kPerBucket = 8;
constexpr std::size_t kMaxBuckets = 256;

bool HasFailed(const Engine& engine) { return engine.over(/*now_ns=*/0); }

// Reads records of this node's tables while transactions write them. Retries while a writer is at a
// record.
class RecordReader {
 public:
  RecordReader(Engine& engine, Table& table)
      : engine_(engine),
        protocol_(engine.protocol()),
        table_(table),
        bytes_(table.version_bytes()),
        record_(bytes_) {}

  // The record of the tuple. Null: there is none, or the run has failed, and a writer may never
  // finish. Then what was read is of no use.
  std::byte* Read(std::uint64_t offset, Rank rank) {
    for (unsigned tries = 0;; ++tries) {
      // A writer finishes within a commit, but does not notify anyone.
      if (tries >= kTriesBeforeSleep) {
        if (HasFailed(engine_)) return nullptr;
        SleepFor(kRetryInterval);
      }
      if (TryRead(TupleView(table_, table_.memory(rank) + offset))) break;
    }
    return RecordOfVersion(record_.data());
  }

 private:
  static constexpr unsigned kTriesBeforeSleep = 100;
  static constexpr std::chrono::microseconds kRetryInterval{5};

  bool TryRead(const TupleView& tuple) {
    const auto before = StampOf(tuple);
    if (!before) return false;
    const std::byte* const version = tuple.version(before->version);
    std::uint64_t word;
    LoadWords(reinterpret_cast<std::byte*>(&word), version, sizeof word);
    LoadWords(record_.data(), version, bytes_);
    if (StampOf(tuple) != before) return false;
    std::uint64_t again;
    LoadWords(reinterpret_cast<std::byte*>(&again), version, sizeof again);
    return word == again && word == WordOfVersion(record_.data());
  }

  std::optional<Protocol::ReadStamp> StampOf(const TupleView& tuple) const {
    std::uint64_t metadata[kMaxMetadataWords];
    tuple.LoadMetadata(metadata);
    return protocol_.StampOf(metadata);
  }

  const Engine& engine_;
  const Protocol& protocol_;
  Table& table_;
  std::uint64_t bytes_;
  std::vector<std::byte> record_;
};

// Visits blocks in memory order, which is faster than looking up each one. Descends from the
// vertex's topmost blocks, because blocks split downwards. So it finds every entry exactly once.
class BlockWalk {
 public:
  using Wanted = std::function<bool(VertexName, VertexName)>;
  BlockWalk(TransactionalGraph& graph, GraphTime at, bool properties, const Wanted& wanted,
            EdgeChanges& found)
      : graph_(graph),
        at_(at),
        property_bytes_(properties ? graph.shape().edge_bytes : 0),
        wanted_(wanted),
        reader_(graph.engine(), graph.blocks()),
        found_(found) {}

  // Visits the tuple of that index if it has a topmost block.
  void Visit(std::uint64_t index, Rank rank) {
    rank_ = rank;
    const Key key = TupleAt(graph_.blocks(), rank, index).key();
    const VertexName vertex = VertexOfKey(key);
    const std::uint32_t number = BlockOfKey(key);
    // Block 0 has a record only if it is the topmost block of its vertex.
    if (number != 0) {
      const unsigned depth = BlockTree(graph_.base(), vertex).first_depth;
      if (number < FirstBlockAt(depth) || number >= FirstBlockAt(depth + 1)) return;
    }
    VisitBlock(vertex, number, graph_.blocks().TupleOffset(index), false);
  }

 private:
  // `offset`: 0 if the block must be looked up. `must_be`: the parent was split, so the commit that
  // makes this block is about to complete.
  void VisitBlock(VertexName vertex, std::uint32_t number, std::uint64_t offset, bool must_be) {
    std::byte* record = nullptr;
    while (true) {
      if (offset == 0) offset = graph_.blocks().Find(BlockKey(vertex, number), rank_);
      if (offset != 0) record = reader_.Read(offset, rank_);
      if (record != nullptr || !must_be || HasFailed(graph_.engine())) break;
      Yield();
    }
    if (record == nullptr) return;
    const EdgeBlock block(graph_.shape(), record);
    if (block.kind() == BlockKind::kSplit) {
      for (std::uint32_t child = 1; child <= kFanOut; ++child) {
        VisitBlock(vertex, kFanOut * number + child, 0, true);
      }
      return;
    }
    for (std::uint32_t i = 0; i < block.count(); ++i) {
      const EdgeEntry& entry = block.entry(i);
      if (block.Find(entry.neighbour, at_) != &entry) continue;
      if (!wanted_(vertex, entry.neighbour)) continue;
      EdgeChange& change =
          found_.edges.emplace_back(vertex, entry.neighbour, entry.alive != 0, entry.time);
      change.properties_index = found_.edges.size() - 1;
      const std::byte* const from = block.properties(entry);
      found_.properties.insert(found_.properties.end(), from, from + property_bytes_);
    }
  }

  TransactionalGraph& graph_;
  GraphTime at_;
  Rank rank_ = 0;
  std::uint32_t property_bytes_;
  const Wanted& wanted_;
  RecordReader reader_;
  EdgeChanges& found_;
};

std::vector<VertexName> Sorted(std::vector<VertexName> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Sorts by vertex and neighbour. An in-place radix sort: partitions by the leading bits of the
// vertex, then sorts each bucket recursively. Each swap depends on the one before, so few buckets
// are used, whose write positions stay in the processor's cache.
void Sort(std::span<EdgeChange> edges) {
  const auto by_vertex = [](const EdgeChange& a, const EdgeChange& b) {
    return a.vertex() < b.vertex();
  };
  if (edges.size() <= kFew) return std::sort(edges.begin(), edges.end(), Before);
  const auto [first, last] = std::minmax_element(edges.begin(), edges.end(), by_vertex);
  const VertexName least = first->vertex();
  const VertexName range = last->vertex() - least;
  if (range == 0) return std::sort(edges.begin(), edges.end(), Before);
  int shift = 0;
  while (range >> shift >= std::min(kMaxBuckets, 1 + edges.size() / kPerBucket)) ++shift;
  const auto bucket_of = [&](const EdgeChange& one) { return (one.vertex() - least) >> shift; };
  const std::size_t buckets = (range >> shift) + 1;
  std::array<std::size_t, kMaxBuckets> ends;
  std::array<std::size_t, kMaxBuckets> next;
  std::fill_n(ends.begin(), buckets, 0);
  for (const EdgeChange& one : edges) ++ends[bucket_of(one)];
  std::exclusive_scan(ends.begin(), ends.begin() + buckets, next.begin(), std::size_t{0});
  std::inclusive_scan(ends.begin(), ends.begin() + buckets, ends.begin());
  std::size_t begin = 0;
  for (std::size_t bucket = 0; bucket < buckets; begin = ends[bucket++]) {
    while (next[bucket] < ends[bucket]) {
      EdgeChange& one = edges[next[bucket]];
      const std::size_t to = bucket_of(one);
      if (to != bucket) std::swap(one, edges[next[to]]);
      ++next[to];
    }
    Sort(edges.subspan(begin, ends[bucket] - begin));
  }
}

EdgeChanges Sorted(EdgeChanges changes) {
  Sort(changes.edges);
  return changes;
}

bool AllZeros(const std::vector<std::vector<std::byte>>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const auto& part) {
    return std::all_of(part.begin(), part.end(), [](std::byte one) { return one == std::byte{0}; });
  });
}

// Gathers the names of all nodes, sorted and without duplicates.
Result<std::vector<VertexName>> GatherNames(Cluster& cluster, std::span<const VertexName> mine) {
  SLIM_ASSIGN(const auto all, cluster.all().AllGather(std::as_bytes(mine)));
  std::vector<VertexName> names;
  for (const auto& theirs : all) {
    const std::size_t at = names.size();
    names.resize(at + theirs.size() / sizeof(VertexName));
    if (!theirs.empty()) std::memcpy(names.data() + at, theirs.data(), theirs.size());
  }
  return Sorted(std::move(names));
}

}  // namespace

Result<PartitionHolders> PartitionHolders::Find(Cluster& cluster, const View& view) {
  PartitionHolders found;
  const Job& job = cluster.job();
  const NodeId self = job.node_in_job(cluster.self());
  for (NodeId partition = 0; partition < view.nodes(); ++partition) {
    const NodeId primary = view.Primary(partition);
    found.nodes_of.emplace_back();
    found.primary_of.push_back(job.nodes());
    for (NodeId node = 0; node < job.nodes(); ++node) {
      const NodeId number = job.node_in_job(node);
      if (view.Holds(number, partition)) found.nodes_of.back().push_back(node);
      if (number == primary) found.primary_of.back() = node;
    }
    if (found.primary_of.back() == job.nodes()) {
      return EnvironmentError("node {} has died, and the run is over", primary);
    }
    if (!view.Holds(self, partition)) continue;
    found.copies.push_back({partition, view.RankAt(self, partition)});
    if (self == primary) found.primaries.push_back(found.copies.back());
  }
  return found;
}

EdgeChanges FindEdges(TransactionalGraph& graph, const PartitionHolders& holders, GraphTime at,
                      bool properties, const std::function<bool(VertexName, VertexName)>& wanted) {
  EdgeChanges found;
  const auto hold = graph.engine().HoldTuples();
  const Table& blocks = graph.blocks();
  std::uint64_t most = 0;
  for (const auto& [partition, rank] : holders.primaries) most += blocks.tuples(rank);
  // Untouched pages of the reservation take no memory.
  found.edges.reserve(most * EdgeBlock::Capacity(graph.shape()));
  BlockWalk walk(graph, at, properties, wanted, found);
  for (const auto& [partition, rank] : holders.primaries) {
    const std::uint64_t tuples = blocks.tuples(rank);
    for (std::uint64_t i = 0; i < tuples; ++i) walk.Visit(i, rank);
  }
  return found;
}

Result<VertexChanges> FindVertices(Cluster& cluster, TransactionalGraph& graph,
                                   const PartitionHolders& holders, GraphTime at) {
  VertexChanges mine;
  auto hold = graph.engine().HoldTuples();
  Table& vertices = graph.vertices();
  RecordReader reader(graph.engine(), vertices);
  for (const auto& [partition, rank] : holders.primaries) {
    const std::uint64_t records = vertices.tuples(rank);
    for (std::uint64_t i = 0; i < records; ++i) {
      const std::byte* const record = reader.Read(vertices.TupleOffset(i), rank);
      if (record == nullptr) continue;
      VertexRecord vertex;
      std::memcpy(&vertex, record, sizeof vertex);
      const VertexName name = VertexOfKey(TupleAt(vertices, rank, i).key());
      const bool in_base = graph.base().DenseOf(name).has_value();
      const bool alive = vertex.AliveAt(at);
      if (alive == in_base) continue;
      std::vector<VertexName>& changed = alive ? mine.added : mine.deleted;
      changed.push_back(name);
      if (graph.shape().directed) changed.push_back(name ^ 1);  // its in-side
    }
  }
  hold.unlock();
  VertexChanges all;
  SLIM_ASSIGN(all.added, GatherNames(cluster, mine.added));
  SLIM_ASSIGN(all.deleted, GatherNames(cluster, mine.deleted));
  return all;
}

OriginalIds SnapshotVertices::Ids() const {
  if (same_as_base()) return base_.ids().in_order();
  std::vector<std::uint64_t> names;
  ForEach([&](VertexName name, NodeId, std::optional<VertexId>) { names.push_back(name); });
  return OriginalIds(std::move(names));
}

// A shared region has what goes to each other node in turn, first changes, then properties. All
// nodes know the sizes. What is for this node is not copied.
Result<EdgeChanges> SendToHolders(Cluster& cluster, EdgeChanges changes, std::uint64_t each,
                                  const std::function<std::span<const NodeId>(VertexName)>& holders,
                                  const std::function<Result<SharedRegion>(std::uint64_t)>& room) {
  const NodeId nodes = cluster.topology().nodes();
  const NodeId self = cluster.self();
  const std::uint64_t bytes_each = sizeof(EdgeChange) + each;
  std::vector<std::uint64_t> counts(nodes);
  for (const EdgeChange& change : changes.edges) {
    for (const NodeId node : holders(change.vertex())) ++counts[node];
  }
  counts[self] = 0;
  SLIM_ASSIGN(const auto all, cluster.all().AllGather(std::as_bytes(std::span(counts))));
  if (AllZeros(all)) return Sorted(std::move(changes));
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  SLIM_ASSIGN(const SharedRegion region, room((sum + 1) * bytes_each));
  std::vector<std::uint64_t> done(nodes);
  std::vector<std::byte*> boxes(nodes);
  std::byte* box = region.memory.data();
  for (NodeId node = 0; node < nodes; box += counts[node++] * bytes_each) boxes[node] = box;
  std::size_t kept = 0;
  for (const EdgeChange& change : changes.edges) {
    bool mine = false;
    for (const NodeId node : holders(change.vertex())) {
      mine = mine || node == self;
      if (node == self) continue;
      const std::uint64_t at = done[node]++;
      std::byte* const properties = boxes[node] + counts[node] * sizeof(EdgeChange) + at * each;
      std::memcpy(boxes[node] + at * sizeof(EdgeChange), &change, sizeof change);
      std::copy_n(changes.properties.data() + change.properties_index * each, each, properties);
    }
    if (mine) changes.edges[kept++] = change;
  }
  changes.edges.resize(kept);
  SLIM_TRY(cluster.all().Barrier());
  Endpoint& endpoint = cluster.fabric().endpoint(0);
  for (NodeId node = 0; node < nodes; ++node) {
    std::memcpy(counts.data(), all[node].data(), all[node].size());
    std::uint64_t before = 0;
    for (NodeId other = 0; other < self; ++other) before += counts[other];
    const std::uint64_t count = counts[self];
    if (count == 0) continue;
    const std::size_t at = changes.edges.size();
    const std::size_t properties_at = changes.properties.size();
    changes.edges.resize(at + count);
    changes.properties.resize(properties_at + count * each);
    const auto edges = std::as_writable_bytes(std::span(changes.edges).subspan(at));
    const auto properties = MutableBytes(changes.properties).subspan(properties_at);
    endpoint.Read(node, region.id, before * bytes_each, edges);
    if (each > 0) {
      endpoint.Read(node, region.id, before * bytes_each + edges.size(), properties);
    }
    if (const Outcome outcome = endpoint.Flush(); outcome != Outcome::kOk) {
      return EnvironmentError("reading the changes of node {}: {}", node, OutcomeName(outcome));
    }
    for (std::size_t i = 0; i < count && each > 0; ++i) {
      changes.edges[at + i].properties_index = properties_at / each + i;
    }
  }
  return Sorted(std::move(changes));
}

}  // namespace slimgraph::txn
