// What has been folded, in logs on disk: places, and the edges of which the base of the store does
// not say what there is. A log has all of it since the store was loaded, once: each fold merges
// what the last log has with its own, and a recovery folds it at once.
#include <algorithm>
#include <cstring>

#include "txnlayer/graph/fold.h"

namespace slimgraph::txn {
namespace {

enum Kind : std::uint64_t { kPlaces, kDead, kEdges };

constexpr std::size_t kWordsAtATime = 1 << 17;
// Before the properties: vertex, neighbour and whether there is an edge, time.
constexpr std::size_t kEdgeWords = 3;

std::size_t WordsOf(const GraphShape& shape) {
  return kEdgeWords + WholeWords(shape.edge_bytes) / kWordBytes;
}

void TakeEdges(std::span<const std::uint64_t> words, const GraphShape& shape,
               const std::function<bool(VertexName)>& wanted, EdgeChanges& into) {
  for (; !words.empty(); words = words.subspan(WordsOf(shape))) {
    if (!wanted(words[0])) continue;
    EdgeChange& change =
        into.edges.emplace_back(words[0], words[1] >> 1, (words[1] & 1) != 0, words[2]);
    change.place = into.edges.size() - 1;
    const Bytes properties = std::as_bytes(words.subspan(kEdgeWords)).first(shape.edge_bytes);
    into.properties.insert(into.properties.end(), properties.begin(), properties.end());
  }
}

// Writes changes in turn, many at a time.
class EdgeWriter {
 public:
  EdgeWriter(const GraphShape& shape, const KeptAside::Write& write)
      : shape_(shape), write_(write) {}

  Status Add(const EdgeChange& change, const EdgeChanges& of) {
    const std::size_t at = words_.size();
    words_.resize(at + WordsOf(shape_));
    words_[at] = change.vertex();
    words_[at + 1] = change.neighbour() << 1 | (change.alive() ? 1 : 0);
    words_[at + 2] = change.time();
    std::copy_n(of.properties.data() + change.place * shape_.edge_bytes, shape_.edge_bytes,
                reinterpret_cast<std::byte*>(words_.data() + at + kEdgeWords));
    return words_.size() < kWordsAtATime ? Status() : Finish();
  }
  Status Finish() {
    if (words_.empty()) return {};
    Status written = write_(kEdges, words_);
    words_.clear();
    return written;
  }

 private:
  const GraphShape& shape_;
  const KeptAside::Write& write_;
  std::vector<std::uint64_t> words_;
};

Status WriteNames(const KeptAside::Write& write, Kind kind, std::span<const VertexName> names) {
  for (std::size_t at = 0; at < names.size(); at += kWordsAtATime) {
    SLIM_TRY(write(kind, names.subspan(at, std::min(kWordsAtATime, names.size() - at))));
  }
  return {};
}

void SortNames(std::vector<VertexName>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

Status Folder::TakeBack(std::uint64_t kind, std::span<const std::uint64_t> words) {
  recovered_.any = true;
  const BaseGraph& base = graph_.base();
  const View& view = graph_.engine().view();
  if (kind == kEdges) {
    const auto wanted = [&](VertexName vertex) {
      const auto dense = base.ids().Find(vertex);
      return !dense || view.Holds(graph_.engine().self(), *dense % view.nodes());
    };
    TakeEdges(words, graph_.shape(), wanted, recovered_.changes);
  } else {
    auto& names = kind == kPlaces ? recovered_.places : recovered_.dead;
    names.insert(names.end(), words.begin(), words.end());
  }
  return {};
}

Status Folder::TakenBack() {
  if (!recovered_.any) return {};
  Cluster& cluster = graph_.engine().cluster();
  SortNames(recovered_.places);
  SortNames(recovered_.dead);
  std::vector<EdgeChange>& edges = recovered_.changes.edges;
  std::sort(edges.begin(), edges.end(), Before);
  const auto same = [](const EdgeChange& one, const EdgeChange& other) {
    return !Before(one, other) && !Before(other, one);
  };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  BaseGraph::Next next = graph_.base().NextPlaces(recovered_.places, recovered_.dead);
  const PartitionHolders holders(cluster, graph_.engine().view());
  SLIM_ASSIGN(const bool fits, WriteNext(cluster, holders, recovered_.changes, next));
  if (!fits) {
    return InputError("what has been folded has no room in memory: more --rows are needed");
  }
  static_cast<void>(graph_.base().Switch(std::move(next)));
  ClearSpare();
  // What comes is later.
  GraphTime latest = 0;
  for (const EdgeChange& change : edges) latest = std::max(latest, change.time());
  graph_.clock().Next(latest);
  return cluster.all().Barrier();
}

Status Folder::WriteAnew(const Write& write) {
  SLIM_TRY(WriteNames(write, kPlaces, recovered_.places));
  SLIM_TRY(WriteNames(write, kDead, recovered_.dead));
  EdgeWriter writer(graph_.shape(), write);
  const BaseGraph& base = graph_.base();
  const View& view = graph_.engine().view();
  for (const EdgeChange& change : recovered_.changes.edges) {
    // Of vertices that have come since the store was made, all nodes were told.
    const auto dense = base.ids().Find(change.vertex());
    if (!dense || !view.Holds(graph_.engine().self(), *dense % view.nodes())) continue;
    SLIM_TRY(writer.Add(change, recovered_.changes));
  }
  recovered_ = {};
  return writer.Finish();
}

// With what the log in use has of earlier folds; of an edge the later word counts.
Status Folder::WriteAside(const EdgeChanges& changes, const BaseGraph::Next& next) {
  Durability& logs = *graph_.engine().durability();
  SLIM_TRY(logs.BeginNext(cluster_->all()));
  const Write write = [&](std::uint64_t kind, std::span<const std::uint64_t> words) {
    return logs.AddAsideToNext(kind, words);
  };
  std::vector<VertexName> places;
  std::vector<VertexName> dead;
  for (VertexId dense = 0; dense < next.ids.count(); ++dense) {
    if (dense >= places_of_store_) places.push_back(next.ids[dense]);
    if (!next.alive(dense)) dead.push_back(next.ids[dense]);
  }
  SLIM_TRY(WriteNames(write, kPlaces, places));
  SLIM_TRY(WriteNames(write, kDead, dead));
  EdgeChanges before;
  SLIM_TRY(logs.ReadAside([&](std::uint64_t kind, std::span<const std::uint64_t> words) {
    const auto all = [](VertexName) { return true; };
    if (kind == kEdges) TakeEdges(words, graph_.shape(), all, before);
  }));
  EdgeWriter writer(graph_.shape(), write);
  auto old = before.edges.begin();
  for (const EdgeChange& change : changes.edges) {
    for (; old != before.edges.end() && Before(*old, change); ++old) {
      SLIM_TRY(writer.Add(*old, before));
    }
    if (old != before.edges.end() && !Before(change, *old)) ++old;
    SLIM_TRY(writer.Add(change, changes));
  }
  for (; old != before.edges.end(); ++old) SLIM_TRY(writer.Add(*old, before));
  return writer.Finish();
}

}  // namespace slimgraph::txn
