#include "dkudu/plan/plan.h"

#include <bit>

#include "slimgraph/base/check.h"

namespace slimgraph::dkudu {
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
  // How to make the set of vertices that are adjacent to all `neighbours` levels and to none of the
  // `non_neighbours` levels: the operation, and the set that it starts from.
  struct SetRecipe {
    SetStep step;
    unsigned level;  // the first level on which it can be made
    PatternMask base_neighbours = 0;
    PatternMask base_non_neighbours = 0;
  };
  static SetRecipe RecipeFor(PatternMask neighbours, PatternMask non_neighbours) {
    const unsigned level = Highest(neighbours | non_neighbours);
    SetRecipe recipe{{.operand = static_cast<std::uint8_t>(level),
                      .neighbours = neighbours,
                      .non_neighbours = non_neighbours},
                     level};
    recipe.base_neighbours = neighbours;
    recipe.base_non_neighbours = non_neighbours;
    if (neighbours == Bit(level) && non_neighbours == 0) return recipe;
    if (neighbours == Bit(level)) {
      recipe.step.operand = static_cast<std::uint8_t>(Highest(non_neighbours));
      recipe.step.operation = SetOperation::kSubtract;
      recipe.base_non_neighbours = Without(non_neighbours, recipe.step.operand);
    } else if (Has(non_neighbours, level)) {
      recipe.step.operation = SetOperation::kSubtract;
      recipe.base_non_neighbours = Without(non_neighbours, level);
    } else {
      recipe.step.operation = SetOperation::kIntersect;
      recipe.base_neighbours = Without(neighbours, level);
    }
    return recipe;
  }

  SetRef RequireSet(PatternMask neighbours, PatternMask non_neighbours) {
    SetRecipe recipe = RecipeFor(neighbours, non_neighbours);
    auto& sets = plan_.levels[recipe.level].sets;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].neighbours == neighbours && sets[i].non_neighbours == non_neighbours) {
        return {static_cast<std::uint8_t>(recipe.level), static_cast<std::uint8_t>(i)};
      }
    }
    if (recipe.step.operation != SetOperation::kList) {
      recipe.step.base = RequireSet(recipe.base_neighbours, recipe.base_non_neighbours);
    }
    plan_.levels[recipe.step.operand].needs_list = true;
    sets.push_back(recipe.step);
    return {static_cast<std::uint8_t>(recipe.level), static_cast<std::uint8_t>(sets.size() - 1)};
  }

  unsigned FirstOfClass(unsigned t) const {
    unsigned first = plan_.listed();
    while (order_.levels[first].neighbours != order_.levels[t].neighbours) ++first;
    return first;
  }

  void FindForListing(unsigned t) {
    const auto& from = order_.levels[t];
    plan_.levels[t].candidates = RequireSet(from.neighbours, from.non_neighbours);
  }

  void FindForCounting(unsigned t) {
    const auto& from = order_.levels[t];
    SetRecipe recipe = RecipeFor(from.neighbours, from.non_neighbours);
    const bool last = recipe.level + 1 == plan_.listed() && recipe.step.operand == recipe.level;
    if (!last || recipe.step.operation == SetOperation::kList) return FindForListing(t);
    plan_.levels[t].candidates = RequireSet(recipe.base_neighbours, recipe.base_non_neighbours);
    recipe.step.base = plan_.levels[t].candidates;
    recipe.step.above = from.above;
    plan_.levels[recipe.level].needs_list = true;
    plan_.levels[t].last_step = recipe.step;
  }

  // Finds the earlier vertices that may be in the set of level t. The pattern decides this where it
  // tells whether two vertices are adjacent in the graph: if they are adjacent in the pattern, and,
  // when vertex-induced, also if they are not.
  void FindInside(unsigned t) {
    const auto& from = order_.levels[t];
    const auto& pattern = plan_.pattern;
    for (unsigned i = 0; i < t; ++i) {
      if (Has(from.neighbours, i) || Has(from.above, i)) continue;
      if (i >= plan_.listed()) continue;  // the suffix's formula handles these
      bool surely = true;
      bool never = false;
      for (unsigned j = 0; j < t; ++j) {
        if (j == i) continue;
        const bool joined = pattern.adjacent(order_.levels[i].vertex, order_.levels[j].vertex);
        const bool apart = !joined && plan_.induced == Induced::kVertex;
        if (Has(from.neighbours, j)) {
          surely = surely && joined;
          never = never || apart;
        } else if (Has(from.non_neighbours, j)) {
          surely = surely && apart;
          never = never || joined;
        }
      }
      if (never) continue;
      plan_.levels[t].may_be_inside |= Bit(i);
      if (surely) plan_.levels[t].is_inside |= Bit(i);
    }
  }

  // Lets each set leave out elements that none of its users needs.
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

}  // namespace slimgraph::dkudu
