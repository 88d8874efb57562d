// What the matcher does at each level, compiled from a matching order: every set of candidates is
// made by one operation on a set of an earlier level and one list, as early as its vertices are
// known, so that all embeddings that extend the same one share it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dkudu/plan/matching_order.h"

namespace slimgraph {

// The index-th set of the embedding's vertex at `level`.
struct SetRef {
  std::uint8_t level = 0;
  std::uint8_t index = 0;
  friend bool operator==(const SetRef&, const SetRef&) = default;
};

enum class SetOperation : std::uint8_t { kList, kIntersect, kSubtract };

struct SetStep {
  SetOperation operation = SetOperation::kList;
  SetRef base = {};          // meaningless for kList
  std::uint8_t operand = 0;  // the level whose vertex's list is taken
  PatternMask above = 0;  // everybody who uses the set wants elements above these levels' vertices
  PatternMask neighbours = 0;
  PatternMask strangers = 0;
};

struct PlanLevel {
  PatternVertex vertex = 0;
  bool needs_list = false;
  std::vector<SetStep> sets;  // made once this level's vertex is known; only on listed levels
  // Where this level's vertex comes from; not for level 0. In the suffix the last step to it may be
  // left for counting: then `last_step` is to be applied to it, and `candidates` is its base.
  SetRef candidates;
  std::optional<SetStep> last_step;
  PatternMask above = 0;
  // Earlier levels whose vertex may be, or is always, among the candidates, but is taken already.
  PatternMask may_be_inside = 0;
  PatternMask is_inside = 0;
  double expected = 0;
};

struct Plan {
  Pattern pattern;
  Induced induced = Induced::kEdge;
  std::vector<PlanLevel> levels;  // in the suffix, a class shares its first level's sets
  Suffix suffix;
  double work = 0;

  unsigned listed() const { return static_cast<unsigned>(levels.size()) - suffix.levels; }
};

Plan CompilePlan(const Pattern& pattern, Induced induced, const GraphFigures& graph, bool list_all);

// For people: one line for each level.
std::string Explain(const Plan& plan);

}  // namespace slimgraph
