#include "dkudu/plan/pattern.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace slimgraph::dkudu {

Result<Pattern> Pattern::Make(const std::vector<Edge>& edges, std::string name) {
  Pattern pattern;
  for (const auto& [a, b] : edges) {
    if (a == b) {
      return InputError(
          "{}: vertex {} has an edge to itself, which no subgraph of a simple graph "
          "has",
          name, a);
    }
    pattern.ids_.push_back(a);
    pattern.ids_.push_back(b);
  }
  auto& ids = pattern.ids_;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.empty()) return InputError("{}: a pattern has at least one edge", name);
  if (ids.size() > kMaxPatternVertices) {
    return InputError("{}: the pattern has {} vertices, and at most {} are supported", name,
                      ids.size(), kMaxPatternVertices);
  }
  const auto number = [&](std::uint64_t id) {
    return static_cast<unsigned>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  };
  for (const auto& [a, b] : edges) {
    pattern.neighbours_[number(a)] |= Bit(number(b));
    pattern.neighbours_[number(b)] |= Bit(number(a));
  }
  if (!pattern.connected()) {
    return InputError("{}: the pattern is not connected; count its parts one by one", name);
  }
  pattern.name_ = std::move(name);
  return pattern;
}

bool Pattern::connected() const {
  PatternMask reached = 1;
  for (unsigned round = 0; round < size(); ++round) {
    for (unsigned v = 0; v < size(); ++v) {
      if (Has(reached, v)) reached |= neighbours_[v];
    }
  }
  return std::popcount(reached) == static_cast<int>(size());
}

unsigned Pattern::edges() const {
  int ends = 0;
  for (unsigned v = 0; v < size(); ++v) ends += std::popcount(neighbours_[v]);
  return static_cast<unsigned>(ends) / 2;
}

std::vector<Permutation> Pattern::Automorphisms() const {
  std::vector<Permutation> found;
  Permutation image = {};
  const auto extend = [&](const auto& self, unsigned v, PatternMask used) -> void {
    if (v == size()) {
      found.push_back(image);
      return;
    }
    for (unsigned to = 0; to < size(); ++to) {
      if (Has(used, to)) continue;
      bool fits = true;
      for (unsigned u = 0; u < v && fits; ++u) fits = adjacent(u, v) == adjacent(image[u], to);
      if (!fits) continue;
      image[v] = static_cast<PatternVertex>(to);
      self(self, v + 1, static_cast<PatternMask>(used | Bit(to)));
    }
  };
  extend(extend, 0, 0);
  return found;
}

}  // namespace slimgraph::dkudu
