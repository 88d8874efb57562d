#include "txnlayer/graph/internal/fold_log.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "slimgraph/cluster/gather.h"
#include "txnlayer/graph/fold.h"

namespace slimgraph::txn {
namespace {

constexpr std::size_t kWordsAtATime = 1 << 17;
// Vertex; neighbour and alive bit; time. The properties follow.
constexpr std::size_t kEdgeWords = 3;

std::size_t WordsOf(const GraphShape& shape) {
  return kEdgeWords + WholeWords(shape.edge_bytes) / kWordBytes;
}

// Name and alive bit; time.
constexpr std::size_t kVertexWords = 2;

// Writes vertices in batches.
class VertexWriter {
 public:
  explicit VertexWriter(const AsideOwner::Write& write) : write_(write) {}

  Status Add(VertexName name, GraphTime time, bool alive) {
    words_.insert(words_.end(), {name << 1 | (alive ? 1U : 0U), time});
    return words_.size() < kWordsAtATime ? Status() : Finish();
  }
  Status Finish() {
    if (words_.empty()) return {};
    Status written = write_(static_cast<std::uint64_t>(FoldedPart::kVertices), words_);
    words_.clear();
    return written;
  }

 private:
  const AsideOwner::Write& write_;
  std::vector<std::uint64_t> words_;
};

// Writes edge changes in batches.
class EdgeWriter {
 public:
  EdgeWriter(const GraphShape& shape, const AsideOwner::Write& write)
      : shape_(shape), write_(write) {}

  Status Add(const EdgeChange& change, const EdgeChanges& of) {
    const std::size_t at = words_.size();
    words_.resize(at + WordsOf(shape_));
    words_[at] = change.vertex();
    words_[at + 1] = change.neighbour() << 1 | (change.alive() ? 1 : 0);
    words_[at + 2] = change.time();
    std::copy_n(of.properties.data() + change.properties_index * shape_.edge_bytes,
                shape_.edge_bytes, reinterpret_cast<std::byte*>(words_.data() + at + kEdgeWords));
    return words_.size() < kWordsAtATime ? Status() : Finish();
  }
  Status Finish() {
    if (words_.empty()) return {};
    Status written = write_(static_cast<std::uint64_t>(FoldedPart::kEdges), words_);
    words_.clear();
    return written;
  }

 private:
  const GraphShape& shape_;
  const AsideOwner::Write& write_;
  std::vector<std::uint64_t> words_;
};

void TakeEdges(std::span<const std::uint64_t> words, const GraphShape& shape, EdgeChanges& into) {
  for (; !words.empty(); words = words.subspan(WordsOf(shape))) {
    EdgeChange& change =
        into.edges.emplace_back(words[0], words[1] >> 1, (words[1] & 1) != 0, words[2]);
    if (shape.edge_bytes > 0) change.properties_index = into.properties.size() / shape.edge_bytes;
    const Bytes properties = std::as_bytes(words.subspan(kEdgeWords)).first(shape.edge_bytes);
    into.properties.insert(into.properties.end(), properties.begin(), properties.end());
  }
}

}  // namespace

Status TakeFolded(std::uint64_t kind, std::span<const std::uint64_t> words, const GraphShape& shape,
                  Folded& into) {
  if (static_cast<FoldedPart>(kind) == FoldedPart::kEdges) {
    if (words.size() % WordsOf(shape) != 0) {
      return InputError("the folded edges in the logs have properties of another size");
    }
    TakeEdges(words, shape, into.changes);
  } else if (static_cast<FoldedPart>(kind) == FoldedPart::kVertices) {
    if (words.size() % kVertexWords != 0) return InputError("the folded vertices are damaged");
    for (; !words.empty(); words = words.subspan(kVertexWords)) {
      into.vertices.push_back({words[0] >> 1, words[1], (words[0] & 1) != 0});
    }
  } else {
    // Dead vertices have dense ids too.
    const bool dead = static_cast<FoldedPart>(kind) == FoldedPart::kDeadVertices;
    for (const VertexName name : words) {
      into.vertices.push_back({name, dead ? GraphTime{1} : GraphTime{0}, !dead});
    }
  }
  return {};
}

void KeepLatest(std::vector<FoldedVertex>& vertices) {
  std::sort(vertices.begin(), vertices.end(), [](const auto& one, const auto& other) {
    return one.name != other.name ? one.name < other.name : one.time > other.time;
  });
  const auto same = [](const auto& one, const auto& other) { return one.name == other.name; };
  vertices.erase(std::unique(vertices.begin(), vertices.end(), same), vertices.end());
}

void KeepLatest(std::vector<EdgeChange>& edges) {
  std::sort(edges.begin(), edges.end(), [](const EdgeChange& one, const EdgeChange& other) {
    if (Before(one, other) || Before(other, one)) return Before(one, other);
    return one.time() > other.time();
  });
  const auto same = [](const EdgeChange& one, const EdgeChange& other) {
    return !Before(one, other) && !Before(other, one);
  };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
}

Status FoldWorker::RestoreBatch(std::uint64_t kind, std::span<const std::uint64_t> words) {
  return TakeFolded(kind, words, graph_.shape(), recovered_);
}

// All nodes need all vertices, which determine the dense ids. An edge goes only to the nodes that
// hold its list.
Status FoldWorker::FinishRestore() {
  Cluster& cluster = graph_.engine().cluster();
  std::vector<FoldedVertex>& vertices = recovered_.vertices;
  KeepLatest(vertices);
  SLIM_ASSIGN(vertices,
              GatherList<FoldedVertex>(cluster.all(), std::span(std::as_const(vertices))));
  KeepLatest(vertices);
  EdgeChanges& changes = recovered_.changes;
  KeepLatest(changes.edges);
  SLIM_ASSIGN(const std::uint64_t found, cluster.all().AllSum(changes.edges.size()));
  if (vertices.empty() && found == 0) return {};
  std::vector<VertexName> new_names;
  std::vector<VertexName> dead;
  for (const FoldedVertex& vertex : vertices) {
    if (!graph_.base().ids().Find(vertex.name)) new_names.push_back(vertex.name);
    if (!vertex.alive) dead.push_back(vertex.name);
  }
  BaseGraph::Contents next = graph_.base().WithDenseIds(new_names, dead);
  SLIM_ASSIGN(const auto holders, PartitionHolders::Find(cluster, graph_.engine().tables().view()));
  std::optional<RegionId> outbox;
  SLIM_ASSIGN(changes, SendToHolders(
                           cluster, std::move(changes), graph_.shape().edge_bytes,
                           [&](VertexName vertex) -> std::span<const NodeId> {
                             const auto dense = next.ids.Find(vertex);
                             if (!dense) return {};
                             return holders.nodes_of[*dense % holders.nodes_of.size()];
                           },
                           [&](std::uint64_t bytes) -> Result<SharedRegion> {
                             SLIM_ASSIGN(const SharedRegion room, cluster.fabric().Share(bytes));
                             outbox = room.id;
                             return room;
                           }));
  SLIM_TRY(cluster.all().Barrier());  // all nodes have read the outbox
  if (outbox) cluster.fabric().Clear(*outbox);
  KeepLatest(changes.edges);
  SLIM_ASSIGN(const bool fits, WriteNext(cluster, holders, changes, next));
  if (!fits) {
    return InputError(
        "the lists have no room for the folded changes in the logs: nodes with more memory are "
        "needed");
  }
  static_cast<void>(graph_.base().Switch(std::move(next)));
  ClearSpare();
  // Move the clocks of all nodes past everything that was folded.
  GraphTime latest = 0;
  for (const EdgeChange& change : changes.edges) latest = std::max(latest, change.time());
  for (const FoldedVertex& vertex : vertices) latest = std::max(latest, vertex.time);
  SLIM_ASSIGN(latest, cluster.all().AllMax(latest));
  graph_.clock().Next(latest);
  return {};
}

Status FoldWorker::WriteAll(const Write& write) {
  VertexWriter vertices(write);
  if (graph_.engine().self() == 0) {  // all nodes have all vertices
    for (const auto& [name, time, alive] : recovered_.vertices) {
      SLIM_TRY(vertices.Add(name, time, alive));
    }
  }
  SLIM_TRY(vertices.Finish());
  EdgeWriter writer(graph_.shape(), write);
  for (const EdgeChange& change : recovered_.changes.edges) {
    SLIM_TRY(writer.Add(change, recovered_.changes));
  }
  recovered_ = {};
  return writer.Finish();
}

Status FoldWorker::WriteAside(EdgeChanges changes, const BaseGraph::Contents& next, GraphTime at) {
  Durability& logs = *graph_.engine().durability();
  SLIM_ASSIGN(const bool anew, logs.BeginNext(cluster_->all()));
  const Write write = [&](std::uint64_t kind, std::span<const std::uint64_t> words) {
    return logs.AddAsideToNext(kind, words);
  };
  // New dense ids, and older vertices that have been added or deleted.
  const BaseGraph& base = graph_.base();
  VertexWriter vertices(write);
  const VertexId recorded = anew ? store_vertices_ : base.vertices();
  for (VertexId dense = 0; dense < next.ids.count() && cluster_->all().rank() == 0; ++dense) {
    const bool alive = next.alive(dense);
    const bool was_alive = anew || (dense < recorded && base.alive(dense));
    if (dense >= recorded || alive != was_alive) {
      SLIM_TRY(vertices.Add(next.ids[dense], at, alive));
    }
  }
  SLIM_TRY(vertices.Finish());
  if (anew) {
    SLIM_TRY(logs.ReadAside([&](std::uint64_t kind, std::span<const std::uint64_t> words) {
      if (static_cast<FoldedPart>(kind) == FoldedPart::kEdges) {
        TakeEdges(words, graph_.shape(), changes);
      }
    }));
    KeepLatest(changes.edges);
  }
  EdgeWriter edges(graph_.shape(), write);
  for (const EdgeChange& change : changes.edges) SLIM_TRY(edges.Add(change, changes));
  return edges.Finish();
}

}  // namespace slimgraph::txn
