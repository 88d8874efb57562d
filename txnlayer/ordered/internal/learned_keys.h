// Sorted keys, with a model of where each of them lies.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "slimgraph/base/learned_search.h"
#include "txnlayer/internal/store/table.h"

namespace slimgraph::txn {

class LearnedKeys {
 public:
  // `keys` rise.
  explicit LearnedKeys(std::vector<Key> keys) : keys_(std::move(keys)), search_(keys_) {}

  const std::vector<Key>& keys() const { return keys_; }
  // The index of the largest key that is at most `key`. There must be one.
  std::size_t Find(Key key) const { return search_.Find(keys_, key); }
  std::uint64_t bytes() const { return keys_.capacity() * sizeof(Key) + search_.bytes(); }

 private:
  std::vector<Key> keys_;
  LearnedSearch search_;
};

}  // namespace slimgraph::txn
