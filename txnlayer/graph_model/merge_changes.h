// Merges a vertex's list in the base with the changes made since. Snapshots, folds, transactions
// and stores on disk all use this function.
#pragma once

#include <span>

#include "txnlayer/graph_model/dense_id_map.h"

namespace slimgraph::txn {

// Visits the result in the order of the neighbours' names:
//   kept(first, count)  a maximal range of elements of `base` that no change names, never empty
//   changed(change)     a change, whether it adds or removes its neighbour; `base` may have had it
// `base` is in the order of names. The changes are in the order of `name_of(change)`, at most one
// per neighbour. Takes O(changes * log(base)) steps: it searches for the changes, and does not
// iterate over the kept elements.
template <typename Changes, typename NameOf, typename Kept, typename Changed>
void MergeChanges(const DenseIdMap& ids, std::span<const VertexId> base, const Changes& changes,
                  NameOf name_of, Kept kept, Changed changed) {
  std::size_t at = 0;
  for (const auto& change : changes) {
    const VertexName name = name_of(change);
    const std::size_t end = at + ids.LowerBound(base.subspan(at), name);
    if (end > at) kept(at, end - at);
    at = end;
    if (at < base.size() && ids[base[at]] == name) ++at;
    changed(change);
  }
  if (at < base.size()) kept(at, base.size() - at);
}

}  // namespace slimgraph::txn
