// The set of a store's vertices; further updates can be applied to it.
#pragma once

#include <unordered_map>

#include "txnlayer/disk/store.h"

namespace slimgraph::txn {

class VertexSet {
 public:
  // The vertices after the store's last update.
  static Result<VertexSet> Of(const Store& store) {
    VertexSet vertices;
    if (store.base().file() != nullptr) {
      SLIM_ASSIGN(vertices.base_, store.base().file()->ReadOriginalIds());
    }
    Update update;
    for (const Batch& batch : store.log().batches()) {
      for (auto rest = batch.words; TakeUpdate(store.shape(), rest, update);) vertices.Take(update);
    }
    return vertices;
  }

  bool has(VertexName name) const {
    if (!changed_.empty()) {
      const auto change = changed_.find(name);
      if (change != changed_.end()) return change->second;
    }
    return base_.Find(name).has_value();
  }
  void Take(const Update& update) {
    if (IsOfVertex(update.kind)) changed_[update.one] = update.kind == UpdateKind::kAddVertex;
  }

 private:
  OriginalIds base_;
  std::unordered_map<VertexName, bool> changed_;
};

}  // namespace slimgraph::txn
