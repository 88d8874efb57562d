// Patterns whose count follows from other counts that are far cheaper. The answers are the same as
// a plan's.
#pragma once

#include <optional>
#include <string>

#include "dkudu/mining_job.h"
#include "dkudu/plan/matching_order.h"

namespace slimgraph::dkudu {

struct Formula {
  unsigned clique = 0;  // the number of vertices, if the pattern is a clique
  std::string motif;    // otherwise the motif's name, if the pattern is one
  Induced induced = Induced::kEdge;
  bool house = false;

  unsigned vertices() const { return motif == "wedge" ? 3 : 4; }  // of a motif
  // The part of each list that the formula needs.
  ListPart part() const;
  std::string Explain() const;
  // The most memory that CountByFormula takes on a compute node, besides the graph.
  std::uint64_t Bytes(const MiningGraph& graph, const MiningOptions& options) const;
};

std::optional<Formula> FormulaFor(const Pattern& pattern, Induced induced);
Result<std::uint64_t> CountByFormula(MiningJob& job, const Formula& formula);

}  // namespace slimgraph::dkudu
