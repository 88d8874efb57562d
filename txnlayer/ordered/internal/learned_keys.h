// Sorted keys, and a model of where each of them lies. So a search looks at a few neighbouring keys
// only, instead of the whole array.
//
// The model has two levels of straight lines. The first line gives the number of a second line,
// which gives an index, give or take its errors. The errors are those of the keys of the array.
// Another key may lie outside of them; then the whole array is searched.
#pragma once

#include <cstdint>
#include <vector>

#include "txnlayer/internal/store/table.h"

namespace slimgraph::txn {

class LearnedKeys {
 public:
  LearnedKeys() = default;
  // `keys` rise.
  explicit LearnedKeys(std::vector<Key> keys);

  const std::vector<Key>& keys() const { return keys_; }
  // The index of the largest key that is at most `key`. There must be one.
  std::size_t Find(Key key) const;
  // How many keys a search looks at, on average over all keys.
  double mean_window() const;
  std::uint64_t bytes() const;

 private:
  // A line through keys that follow each other: index = `base` + `slope` * (key - `first`).
  struct Line {
    Key first = 0;
    double slope = 0;
    double base = 0;
    // What the index of a key of the array differs by, at least and at most.
    std::int32_t least_error = 0;
    std::int32_t most_error = 0;

    double At(Key key) const {
      return base + slope * (key < first ? 0.0 : static_cast<double>(key - first));
    }
  };
  // The line that fits `count` keys best, the first of which has the index `base`.
  static Line Fit(const Key* keys, std::size_t count, std::size_t base);
  std::size_t LineOf(Key key) const;

  std::vector<Key> keys_;
  Line root_;
  std::vector<Line> lines_;
};

}  // namespace slimgraph::txn
