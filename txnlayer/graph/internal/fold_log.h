// Folded changes in logs on disk: dense ids, vertices, and edges that differ from the base of the
// store. Each fold writes what it folds. For a vertex or an edge, the latest time is valid. A
// recovery folds all of it at once. When the logs ask for it (Durability::BeginNext), a fold writes
// everything that was folded since the store was loaded.
#pragma once

#include <functional>
#include <vector>

#include "txnlayer/graph/internal/snapshot_gather.h"

namespace slimgraph::txn {

// The kinds of batches that folds write. The first two are only read: older versions wrote all
// folded vertices with each fold.
enum class FoldedPart : std::uint64_t { kNewVertices, kDeadVertices, kEdges, kVertices };

// A vertex with a dense id behind those of the store, or one that a fold found added or deleted.
struct FoldedVertex {
  VertexName name;
  GraphTime time;  // the time of the fold
  bool alive;
};

struct Folded {
  std::vector<FoldedVertex> vertices;
  EdgeChanges changes;
};

// Adds the content of a batch of that kind.
Status TakeFolded(std::uint64_t kind, std::span<const std::uint64_t> words, const GraphShape& shape,
                  Folded& into);

// Sorts, and keeps the latest of each vertex or edge.
void KeepLatest(std::vector<FoldedVertex>& vertices);
void KeepLatest(std::vector<EdgeChange>& edges);

}  // namespace slimgraph::txn
