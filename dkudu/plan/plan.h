// What the matcher does at each level, compiled from a matching order. Every set of candidates is
// made by one operation on an earlier set and one list. It is made at the first level where all its
// vertices are known, so all embeddings that extend the same one share it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dkudu/plan/matching_order.h"

namespace slimgraph::dkudu {

// Set number `index` of the embedding's vertex at `level`.
struct SetRef {
  std::uint8_t level = 0;
  std::uint8_t index = 0;
  friend bool operator==(const SetRef&, const SetRef&) = default;
};

enum class SetOperation : std::uint8_t { kList, kIntersect, kSubtract };

struct SetStep {
  SetOperation operation = SetOperation::kList;
  SetRef base = {};          // meaningless for kList
  std::uint8_t operand = 0;  // the level whose vertex's list is the second operand
  PatternMask above = 0;     // all users of the set need only elements above these levels' vertices
  PatternMask neighbours = 0;
  PatternMask non_neighbours = 0;
};

struct PlanLevel {
  PatternVertex vertex = 0;
  bool needs_list = false;
  std::vector<SetStep> sets;  // made once this level's vertex is known; only on listed levels
  // The set from which this level's vertex is chosen; not for level 0. In the suffix, the last
  // operation may be left to counting: then `candidates` is its base, and `last_step` must be
  // applied to it.
  SetRef candidates;
  std::optional<SetStep> last_step;
  PatternMask above = 0;
  // Earlier levels whose vertex may be, or always is, in the set, although the embedding already
  // has it.
  PatternMask may_be_inside = 0;
  PatternMask is_inside = 0;
  double expected = 0;
};

struct Plan {
  Pattern pattern;
  Induced induced = Induced::kEdge;
  std::vector<PlanLevel> levels;  // in the suffix, all levels of a class share the first one's sets
  Suffix suffix;
  double work = 0;

  unsigned listed() const { return static_cast<unsigned>(levels.size()) - suffix.levels; }
};

Plan CompilePlan(const Pattern& pattern, Induced induced, const GraphFigures& graph, bool list_all);

// Describes the plan in text, one line per level.
std::string Explain(const Plan& plan);

}  // namespace slimgraph::dkudu
