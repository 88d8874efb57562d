// Plans in words.
#include <bit>

#include "dkudu/plan/plan.h"

namespace slimgraph::dkudu {
namespace {

std::string Levels(PatternMask mask, const char* before) {
  std::string text;
  for (unsigned i = 0; i < kMaxPatternVertices; ++i) {
    if (Has(mask, i)) text += fmt::format("{}{}v{}", text.empty() ? "" : ", ", before, i);
  }
  return text;
}

// "N(v0) ∩ N(v1) \ N(v2)"
std::string SetName(PatternMask neighbours, PatternMask non_neighbours) {
  std::string text;
  for (unsigned i = 0; i < kMaxPatternVertices; ++i) {
    if (Has(neighbours, i)) text += fmt::format("{}N(v{})", text.empty() ? "" : " ∩ ", i);
  }
  for (unsigned i = 0; i < kMaxPatternVertices; ++i) {
    if (Has(non_neighbours, i)) text += fmt::format(" \\ N(v{})", i);
  }
  return text;
}

std::string Candidates(const Plan& plan, const PlanLevel& level) {
  if (level.last_step) return SetName(level.last_step->neighbours, level.last_step->non_neighbours);
  const SetStep& set = plan.levels[level.candidates.level].sets[level.candidates.index];
  return SetName(set.neighbours, set.non_neighbours);
}

std::string How(const Plan& plan, unsigned t) {
  if (t < plan.listed()) return "listed";
  const Suffix& suffix = plan.suffix;
  if (suffix.levels == 1) return "counted";
  if (suffix.classes.size() == 1) {
    return fmt::format("counted with the other vertices of its class, n choose {}", suffix.levels);
  }
  if (suffix.levels == 2) return "counted in a pair, |A| |B| - |A ∩ B|";
  return fmt::format("counted jointly with {} others, by inclusion and exclusion in {} terms",
                     suffix.levels - 1, suffix.terms.size());
}

}  // namespace

std::string Explain(const Plan& plan) {
  std::string text = fmt::format("plan for {}: {} vertices, {} edges, {}-induced\n",
                                 plan.pattern.name(), plan.pattern.size(), plan.pattern.edges(),
                                 plan.induced == Induced::kVertex ? "vertex" : "edge");
  for (unsigned t = 0; t < plan.levels.size(); ++t) {
    const PlanLevel& level = plan.levels[t];
    text += fmt::format("  v{} = pattern vertex {}", t, plan.pattern.id(level.vertex));
    text += t == 0 ? " from all vertices" : " from " + Candidates(plan, level);
    if (level.above != 0) text += ", above " + Levels(level.above, "");
    text += fmt::format(": {}, about {:.2g} embeddings\n", How(plan, t), level.expected);
  }
  for (unsigned t = 0; t < plan.listed(); ++t) {
    for (const SetStep& set : plan.levels[t].sets) {
      if (set.operation == SetOperation::kList) continue;
      text += fmt::format("  once v{} is known: {}, shared by all its extensions\n", t,
                          SetName(set.neighbours, set.non_neighbours));
    }
  }
  return text + fmt::format("  estimated work: {:.2g} list elements\n", plan.work);
}

}  // namespace slimgraph::dkudu
