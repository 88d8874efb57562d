// Counts the labels of a vertex's neighbours. Each thread has one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "dgemini/internal/prefetch.h"
#include "dgemini/vertex_array.h"
#include "slimgraph/base/types.h"
#include "slimgraph/remote/neighbours.h"

namespace slimgraph::dgemini {

class alignas(kCacheLineBytes) LabelCounts {
 public:
  // The memory for each arc of the longest list, at most.
  static constexpr double kArcBytes = 26;

  // For lists of up to `longest` neighbours. Memory that is never touched is not taken.
  explicit LabelCounts(std::uint64_t longest)
      : most_bits_(BitsFor(longest)),
        table_(std::size_t{1} << most_bits_, VertexArray<Entry>::Pages::kSmall) {}

  // The most frequent label of the neighbours, and the smallest of several such labels. The list
  // must not be empty.
  VertexId MostFrequent(const VertexArray<VertexId>& labels, const Neighbours& list) {
    return list.ids.size() <= kFew ? MostFrequentOfFew(labels, list)
                                   : MostFrequentOfMany(labels, list);
  }

  // The same if labels are different for all vertices: then only a neighbour that is in the list
  // several times has a frequent label.
  static VertexId MostFrequentAtFirst(const VertexArray<VertexId>& labels, const Neighbours& list) {
    Best best;
    std::uint32_t run = 0;
    VertexId before = 0;
    ForEachPrefetched(labels, list, [&](std::size_t i, VertexId u, VertexId label) {
      run = i > 0 && u == before ? run + 1 : 1;
      before = u;
      best.Meet(label, run);
    });
    return best.label;
  }

 private:
  struct Entry {
    VertexId label;
    std::uint32_t count;  // 0: free
  };
  struct Best {
    VertexId label = 0;
    std::uint32_t count = 0;
    void Meet(VertexId other, std::uint32_t other_count) {
      if (other_count < count || (other_count == count && other > label)) return;
      label = other;
      count = other_count;
    }
  };
  static constexpr std::size_t kFew = 16;
  static constexpr unsigned kFirstBits = 9;

  // The table is at most three quarters full.
  static unsigned BitsFor(std::uint64_t labels) {
    return static_cast<unsigned>(std::bit_width(labels + labels / 3 + 1));
  }

  static VertexId MostFrequentOfFew(const VertexArray<VertexId>& labels, const Neighbours& list) {
    std::array<VertexId, kFew> sorted;
    ForEachPrefetched(labels, list, [&](std::size_t i, VertexId, VertexId label) {
      for (; i > 0 && sorted[i - 1] > label; --i) sorted[i] = sorted[i - 1];
      sorted[i] = label;
    });
    Best best;
    std::uint32_t run = 0;
    for (std::size_t i = 0; i < list.ids.size(); ++i) {
      run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
      best.Meet(sorted[i], run);
    }
    return best.label;
  }

  // Begins with a small table, which stays in the processor's cache: later iterations have few
  // different labels.
  VertexId MostFrequentOfMany(const VertexArray<VertexId>& labels, const Neighbours& list) {
    UseTable(std::min(kFirstBits, BitsFor(list.ids.size())));
    Best best;
    // Neighbours often have the same label as the one before them. Their number is then added once.
    VertexId label = labels[list.ids[0]];
    std::uint32_t run = 0;
    ForEachPrefetched(labels, list, [&](std::size_t, VertexId, VertexId next) {
      if (next != label) {
        best.Meet(label, Add(label, run));
        label = next;
        run = 0;
      }
      ++run;
    });
    best.Meet(label, Add(label, run));
    return best.label;
  }

  // Returns the label's new count.
  std::uint32_t Add(VertexId label, std::uint32_t count) {
    Entry& entry = Find(label);
    const std::uint32_t sum = entry.count + count;
    if (entry.count == 0) {
      entry.label = label;
      ++used_;
    }
    entry.count = sum;
    if (used_ > most_used_) [[unlikely]]
      Grow();
    return sum;
  }

  void UseTable(unsigned bits) {
    bits_ = bits;
    const std::size_t size = std::size_t{1} << bits;
    most_used_ = size / 4 * 3;
    used_ = 0;
    std::fill(table_.data(), table_.data() + size, Entry{});
  }
  Entry& Find(VertexId label) {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;  // 2^64 / the golden ratio
    const std::size_t mask = (std::size_t{1} << bits_) - 1;
    std::size_t i = label * kSpread >> (64 - bits_);
    while (table_[i].count != 0 && table_[i].label != label) i = (i + 1) & mask;
    return table_[i];
  }
  [[gnu::noinline]] void Grow() {
    for (const Entry& entry : std::span(table_.data(), std::size_t{1} << bits_)) {
      if (entry.count != 0) kept_.push_back(entry);
    }
    UseTable(std::min(bits_ + 3, most_bits_));
    for (const Entry& entry : kept_) Find(entry.label) = entry;
    used_ = kept_.size();
    kept_.clear();
  }

  unsigned most_bits_;
  unsigned bits_ = 0;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
  VertexArray<Entry> table_;
  std::vector<Entry> kept_;  // while the table grows
};

}  // namespace slimgraph::dgemini
