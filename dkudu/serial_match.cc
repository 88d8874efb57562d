#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "dkudu/serial.h"

namespace slimgraph::dkudu::serial {
namespace {

using Lists = std::vector<std::vector<VertexId>>;

// Without self-loops and duplicates.
Lists SimpleLists(const Csr& lists) {
  Lists simple(lists.vertices());
  for (VertexId v = 0; v < lists.vertices(); ++v) {
    std::ranges::unique_copy(lists.list(v), std::back_inserter(simple[v]));
    std::erase(simple[v], v);
  }
  return simple;
}

// Cliques have as many symmetries as there are, so each is found only once: at its vertex of the
// lowest degree, among the neighbours above.
class CliqueCount {
 public:
  explicit CliqueCount(const Lists& lists) : above_(lists.size()) {
    const auto rank = [&](VertexId v) { return std::pair(lists[v].size(), v); };
    for (VertexId v = 0; v < lists.size(); ++v) {
      std::ranges::copy_if(lists[v], std::back_inserter(above_[v]),
                           [&](VertexId w) { return rank(w) > rank(v); });
    }
  }
  std::uint64_t Of(unsigned size) const {
    std::uint64_t count = 0;
    for (const auto& candidates : above_) count += Within(candidates, size - 1);
    return count;
  }

 private:
  std::uint64_t Within(const std::vector<VertexId>& candidates, unsigned more) const {
    if (more == 1) return candidates.size();
    std::uint64_t count = 0;
    std::vector<VertexId> common;
    for (const VertexId v : candidates) {
      common.clear();
      std::ranges::set_intersection(candidates, above_[v], std::back_inserter(common));
      count += Within(common, more - 1);
    }
    return count;
  }

  Lists above_;
};

// Maps the pattern's vertices to different vertices of the graph, one after the other, in all ways.
class Mapping {
 public:
  Mapping(const Lists& lists, const Pattern& pattern, Induced induced)
      : lists_(lists), pattern_(pattern), induced_(induced) {
    for (PatternMask done = 0; order_.size() < pattern.size(); done |= Bit(order_.back())) {
      unsigned next = 0;
      while (Has(done, next) || (done != 0 && (pattern.neighbours(next) & done) == 0)) ++next;
      order_.push_back(next);
    }
  }
  std::uint64_t Count() {
    std::uint64_t count = 0;
    for (VertexId v = 0; v < lists_.size(); ++v) {
      image_[order_[0]] = v;
      count += CountFrom(1);
    }
    return count;
  }

 private:
  std::uint64_t CountFrom(std::size_t place) {
    if (place == order_.size()) return 1;
    const unsigned next = order_[place];
    const auto mapped = std::span(order_).first(place);
    const unsigned from = *std::ranges::find_if(
        mapped, [&](unsigned earlier) { return pattern_.adjacent(earlier, next); });
    std::uint64_t count = 0;
    for (const VertexId v : lists_[image_[from]]) {
      const bool fits = std::ranges::all_of(mapped, [&](unsigned earlier) {
        const VertexId other = image_[earlier];
        if (v == other) return false;
        const bool adjacent = earlier == from || std::ranges::binary_search(lists_[other], v);
        return pattern_.adjacent(earlier, next) ? adjacent
                                                : induced_ == Induced::kEdge || !adjacent;
      });
      if (!fits) continue;
      image_[next] = v;
      count += CountFrom(place + 1);
    }
    return count;
  }

  const Lists& lists_;
  const Pattern& pattern_;
  Induced induced_;
  std::vector<unsigned> order_;  // each but the first has a neighbour before it
  std::array<VertexId, kMaxPatternVertices> image_{};
};

}  // namespace

std::uint64_t CountMatches(const Csr& lists, const Pattern& pattern, Induced induced) {
  const Lists simple = SimpleLists(lists);
  const unsigned size = pattern.size();
  if (pattern.edges() == size * (size - 1) / 2) return CliqueCount(simple).Of(size);
  return Mapping(simple, pattern, induced).Count() / pattern.Automorphisms().size();
}

}  // namespace slimgraph::dkudu::serial
