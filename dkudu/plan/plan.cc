#include "dkudu/plan/plan.h"

#include <bit>

#include "slimgraph/base/check.h"

namespace slimgraph {
namespace {

PatternMask Without(PatternMask mask, unsigned i) {
  return static_cast<PatternMask>(mask & ~Bit(i));
}
PatternMask UpTo(unsigned level) { return static_cast<PatternMask>((2U << level) - 1); }

class Compiler {
 public:
  Compiler(const Pattern& pattern, Induced induced, const MatchingOrder& order) : order_(order) {
    plan_.pattern = pattern;
    plan_.induced = induced;
    plan_.suffix = order.suffix;
    plan_.work = order.work;
    plan_.levels.resize(order.levels.size());
  }

  Plan Compile() {
    for (unsigned t = 0; t < plan_.levels.size(); ++t) {
      const auto& from = order_.levels[t];
      PlanLevel& level = plan_.levels[t];
      level.vertex = from.vertex;
      level.above = from.above;
      level.expected = from.expected;
      if (t == 0) continue;
      if (t < plan_.listed()) {
        FindForListing(t);
      } else if (const unsigned first = FirstOfClass(t); first < t) {
        level.candidates = plan_.levels[first].candidates;
        continue;
      } else {
        FindForCounting(t);
      }
      FindInside(t);
    }
    Trim();
    return std::move(plan_);
  }

 private:
  // The operation that makes the set of these levels' common neighbours that are no neighbours of
  // the strangers, and what it starts from.
  struct Making {
    SetStep step;
    unsigned level;  // the first on which it can be made
    PatternMask base_neighbours = 0;
    PatternMask base_strangers = 0;
  };
  static Making HowToMake(PatternMask neighbours, PatternMask strangers) {
    const unsigned level = Highest(neighbours | strangers);
    Making making{{.operand = static_cast<std::uint8_t>(level),
                   .neighbours = neighbours,
                   .strangers = strangers},
                  level};
    making.base_neighbours = neighbours;
    making.base_strangers = strangers;
    if (neighbours == Bit(level) && strangers == 0) return making;
    if (neighbours == Bit(level)) {
      making.step.operand = static_cast<std::uint8_t>(Highest(strangers));
      making.step.operation = SetOperation::kSubtract;
      making.base_strangers = Without(strangers, making.step.operand);
    } else if (Has(strangers, level)) {
      making.step.operation = SetOperation::kSubtract;
      making.base_strangers = Without(strangers, level);
    } else {
      making.step.operation = SetOperation::kIntersect;
      making.base_neighbours = Without(neighbours, level);
    }
    return making;
  }

  SetRef Need(PatternMask neighbours, PatternMask strangers) {
    Making making = HowToMake(neighbours, strangers);
    auto& sets = plan_.levels[making.level].sets;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].neighbours == neighbours && sets[i].strangers == strangers) {
        return {static_cast<std::uint8_t>(making.level), static_cast<std::uint8_t>(i)};
      }
    }
    if (making.step.operation != SetOperation::kList) {
      making.step.base = Need(making.base_neighbours, making.base_strangers);
    }
    plan_.levels[making.step.operand].needs_list = true;
    sets.push_back(making.step);
    return {static_cast<std::uint8_t>(making.level), static_cast<std::uint8_t>(sets.size() - 1)};
  }

  unsigned FirstOfClass(unsigned t) const {
    unsigned first = plan_.listed();
    while (order_.levels[first].neighbours != order_.levels[t].neighbours) ++first;
    return first;
  }

  void FindForListing(unsigned t) {
    const auto& from = order_.levels[t];
    plan_.levels[t].candidates = Need(from.neighbours, from.strangers);
  }

  void FindForCounting(unsigned t) {
    const auto& from = order_.levels[t];
    Making making = HowToMake(from.neighbours, from.strangers);
    const bool last = making.level + 1 == plan_.listed() && making.step.operand == making.level;
    if (!last || making.step.operation == SetOperation::kList) return FindForListing(t);
    plan_.levels[t].candidates = Need(making.base_neighbours, making.base_strangers);
    making.step.base = plan_.levels[t].candidates;
    making.step.above = from.above;
    plan_.levels[making.level].needs_list = true;
    plan_.levels[t].last_step = making.step;
  }

  // Whether the vertex of an earlier level is in a set follows from the pattern where that tells
  // whether two of its vertices are adjacent in the graph: always if they are in the pattern, and
  // vertex-induced also if they are not.
  void FindInside(unsigned t) {
    const auto& from = order_.levels[t];
    const auto& pattern = plan_.pattern;
    for (unsigned i = 0; i < t; ++i) {
      if (Has(from.neighbours, i) || Has(from.above, i)) continue;
      if (i >= plan_.listed()) continue;  // the suffix sees to that
      bool surely = true;
      bool never = false;
      for (unsigned j = 0; j < t; ++j) {
        if (j == i) continue;
        const bool joined = pattern.adjacent(order_.levels[i].vertex, order_.levels[j].vertex);
        const bool apart = !joined && plan_.induced == Induced::kVertex;
        if (Has(from.neighbours, j)) {
          surely = surely && joined;
          never = never || apart;
        } else if (Has(from.strangers, j)) {
          surely = surely && apart;
          never = never || joined;
        }
      }
      if (never) continue;
      plan_.levels[t].may_be_inside |= Bit(i);
      if (surely) plan_.levels[t].is_inside |= Bit(i);
    }
  }

  // A set may leave out what none of its users wants.
  void Trim() {
    std::vector<std::vector<PatternMask>> wanted(plan_.levels.size());
    for (std::size_t t = 0; t < plan_.levels.size(); ++t) {
      wanted[t].assign(plan_.levels[t].sets.size(), 0xFF);
    }
    for (std::size_t t = 1; t < plan_.levels.size(); ++t) {
      const PlanLevel& level = plan_.levels[t];
      wanted[level.candidates.level][level.candidates.index] &= level.above;
    }
    for (std::size_t t = plan_.levels.size(); t-- > 0;) {
      auto& sets = plan_.levels[t].sets;
      for (std::size_t i = sets.size(); i-- > 0;) {
        sets[i].above = wanted[t][i] & UpTo(static_cast<unsigned>(t));
        if (sets[i].operation == SetOperation::kList) continue;
        wanted[sets[i].base.level][sets[i].base.index] &= sets[i].above;
      }
    }
  }

  const MatchingOrder& order_;
  Plan plan_;
};

}  // namespace

Plan CompilePlan(const Pattern& pattern, Induced induced, const GraphFigures& graph,
                 bool list_all) {
  const MatchingOrder order = ChooseOrder(pattern, induced, graph, list_all);
  return Compiler(pattern, induced, order).Compile();
}

}  // namespace slimgraph
