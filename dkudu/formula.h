// Patterns whose number follows from others that are far cheaper to count. Same answers as a plan
// gives.
#pragma once

#include <optional>
#include <string>

#include "dkudu/mining_job.h"
#include "dkudu/plan/matching_order.h"

namespace slimgraph {

struct Formula {
  unsigned clique = 0;  // its vertices, if the pattern is one
  std::string motif;    // otherwise the name of the motif that it is
  Induced induced = Induced::kEdge;
  bool house = false;

  // What of each list it takes.
  ListPart part() const;
  std::string Explain() const;
};

std::optional<Formula> FormulaFor(const Pattern& pattern, Induced induced);
Result<std::uint64_t> CountByFormula(MiningJob& job, const Formula& formula);

}  // namespace slimgraph
