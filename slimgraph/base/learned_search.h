// A model of where each of some sorted keys lies. So a search looks at a few neighbouring keys
// only, instead of the whole array.
//
// The model has two levels of straight lines. The first line gives the number of a second line,
// which gives an index, give or take its errors. The errors are those of the keys of the array.
// Another key may lie outside of them; then the whole array is searched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace slimgraph {

class LearnedSearch {
 public:
  using Keys = std::span<const std::uint64_t>;

  LearnedSearch() = default;
  // `keys` rise.
  explicit LearnedSearch(Keys keys);

  // The index of the largest key that is at most `key`. There must be one. `keys` are those that
  // were learned.
  std::size_t Find(Keys keys, std::uint64_t key) const;
  // How many keys a search looks at, on average over all keys.
  double MeanWindow(Keys keys) const;
  std::uint64_t bytes() const { return lines_.capacity() * sizeof(Line); }

 private:
  // A line through keys that follow each other: index = `base` + `slope` * (key - `first`).
  struct Line {
    std::uint64_t first = 0;
    double slope = 0;
    double base = 0;
    // What the index of a key of the array differs by, at least and at most.
    std::int64_t least_error = 0;
    std::int64_t most_error = 0;

    double At(std::uint64_t key) const {
      return base + slope * (key < first ? 0.0 : static_cast<double>(key - first));
    }
  };
  // The line that fits the keys best, the first of which has the index `base`.
  static Line Fit(Keys keys, std::size_t base);
  std::size_t LineOf(std::uint64_t key) const;

  Line root_;
  std::vector<Line> lines_;
};

}  // namespace slimgraph
