#include "dkudu/plan/matching_order.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace slimgraph::dkudu {
namespace {

using Level = MatchingOrder::Level;

// Graphs that are mined for patterns are clustered: two neighbours of a vertex are adjacent far
// more often than in a random graph.
constexpr double kClustering = 8;
constexpr double kMostClosed = 0.3;

// Listing an embedding takes as long as merging this many list elements.
constexpr double kListingWork = 24;

// Tries all orders in which every vertex is adjacent to an earlier one. Two vertices are equivalent
// if an automorphism that fixes all earlier vertices maps one to the other: only one of them is
// tried. The restrictions follow from the same orbits (Grochow and Kellis, 2007): the first vertex
// of an orbit to be matched must be the lowest of the orbit.
class Search {
 public:
  Search(const Pattern& pattern, Induced induced, const GraphFigures& graph, bool list_all)
      : pattern_(pattern), induced_(induced), graph_(graph), list_all_(list_all) {}

  MatchingOrder Run() {
    above_.fill(0);
    Extend(0, pattern_.Automorphisms());
    return std::move(best_);
  }

 private:
  void Extend(PatternMask chosen, const std::vector<Permutation>& fixing) {
    if (order_.size() == pattern_.size()) return Evaluate();
    PatternMask tried = 0;
    for (unsigned v = 0; v < pattern_.size(); ++v) {
      const bool joins = chosen == 0 || (pattern_.neighbours(v) & chosen) != 0;
      if (Has(chosen, v) || Has(tried, v) || !joins) continue;
      PatternMask orbit = 0;
      std::vector<Permutation> still_fixing;
      for (const Permutation& one : fixing) {
        orbit |= Bit(one[v]);
        if (one[v] == v) still_fixing.push_back(one);
      }
      tried |= orbit;
      const auto above = above_;
      for (unsigned u = 0; u < pattern_.size(); ++u) {
        if (u != v && Has(orbit, u)) above_[u] |= Bit(static_cast<unsigned>(order_.size()));
      }
      order_.push_back(static_cast<PatternVertex>(v));
      Extend(static_cast<PatternMask>(chosen | Bit(v)), still_fixing);
      order_.pop_back();
      above_ = above;
    }
  }

  void Evaluate() {
    MatchingOrder order;
    for (unsigned t = 0; t < order_.size(); ++t) {
      Level level{.vertex = order_[t], .above = above_[order_[t]]};
      for (unsigned s = 0; s < t; ++s) {
        if (pattern_.adjacent(order_[s], order_[t])) {
          level.neighbours |= Bit(s);
        } else if (induced_ == Induced::kVertex) {
          level.non_neighbours |= Bit(s);
        }
      }
      order.levels.push_back(level);
    }
    // The last levels that are pairwise not adjacent can be counted at once; so can fewer of them.
    PatternMask apart = 0;
    for (auto first = static_cast<unsigned>(order_.size()) - 1; first > 0; --first) {
      if ((pattern_.neighbours(order_[first]) & apart) != 0) break;
      apart |= Bit(order_[first]);
      Consider(order, first);
      if (list_all_ || induced_ == Induced::kVertex) break;
    }
  }

  void Consider(MatchingOrder order, unsigned first_counted) {
    std::vector<PatternMask> neighbours;
    for (std::size_t t = first_counted; t < order.levels.size(); ++t) {
      neighbours.push_back(order.levels[t].neighbours);
    }
    order.suffix = MakeSuffix(first_counted, neighbours);
    Estimate(order);
    if (best_.levels.empty() || order.work < best_.work) best_ = std::move(order);
  }

  void Estimate(MatchingOrder& order) const {
    const double closed = std::min(kMostClosed, kClustering * graph_.end_degree / graph_.vertices);
    const auto k = static_cast<unsigned>(order.levels.size());
    const unsigned listed = k - order.suffix.levels;
    std::array<double, kMaxPatternVertices> embeddings = {};
    for (unsigned t = 0; t < k; ++t) {
      Level& level = order.levels[t];
      const int joined = std::popcount(level.neighbours);
      double candidates = t == 0 ? graph_.vertices : graph_.end_degree;
      if (t == 1) candidates = graph_.mean_degree;
      if (joined > 1) candidates *= std::pow(closed, joined - 1);
      const double before = t == 0 ? 1 : embeddings[t - 1];
      // A set is made once for all embeddings that share the last vertex on which it depends.
      const auto depends_on = static_cast<PatternMask>(level.neighbours | level.non_neighbours);
      if (std::popcount(depends_on) > 1) {
        order.work += embeddings[Highest(depends_on)] * 2 * graph_.end_degree;
      }
      order.work += before * (t < listed ? candidates * kListingWork : 1);
      embeddings[t] = before * candidates / (1 + std::popcount(level.above));
      level.expected = embeddings[t];
    }
    order.work += embeddings[listed - 1] * static_cast<double>(order.suffix.intersections.size()) *
                  2 * graph_.end_degree;
  }

  const Pattern& pattern_;
  Induced induced_;
  GraphFigures graph_;
  bool list_all_;
  std::vector<PatternVertex> order_;
  std::array<PatternMask, kMaxPatternVertices> above_ = {};  // levels, by pattern vertex
  MatchingOrder best_;
};

}  // namespace

MatchingOrder ChooseOrder(const Pattern& pattern, Induced induced, const GraphFigures& graph,
                          bool list_all) {
  return Search(pattern, induced, graph, list_all).Run();
}

}  // namespace slimgraph::dkudu
