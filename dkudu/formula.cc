#include "dkudu/formula.h"

#include <algorithm>
#include <bit>

#include "dkudu/cliques.h"
#include "dkudu/internal/root_sums.h"
#include "dkudu/motifs.h"
#include "slimgraph/base/check.h"

namespace slimgraph::dkudu {
namespace {

// Up to four vertices, the degrees determine a connected pattern.
std::string MotifNamed(const Pattern& pattern) {
  std::string degrees;
  for (unsigned v = 0; v < pattern.size(); ++v) {
    degrees += static_cast<char>('0' + std::popcount(pattern.neighbours(v)));
  }
  std::sort(degrees.begin(), degrees.end());
  if (degrees == "112") return "wedge";
  if (degrees == "2233") return "diamond";
  if (degrees == "2222") return "4-cycle";
  if (degrees == "1223") return "tailed-triangle";
  if (degrees == "1113") return "3-star";
  if (degrees == "1122") return "4-path";
  return "";
}

// A house has two adjacent vertices of degree three, and three vertices of degree two.
bool IsHouse(const Pattern& pattern) {
  if (pattern.size() != 5 || pattern.edges() != 6) return false;
  PatternMask threes = 0;
  for (unsigned v = 0; v < pattern.size(); ++v) {
    const int degree = std::popcount(pattern.neighbours(v));
    if (degree < 2 || degree > 3) return false;
    if (degree == 3) threes |= Bit(v);
  }
  return pattern.adjacent(static_cast<unsigned>(std::countr_zero(threes)),
                          static_cast<unsigned>(std::bit_width(threes)) - 1);
}

}  // namespace

ListPart Formula::part() const {
  return clique != 0 || motif == "wedge" ? ListPart::kUpper : ListPart::kAll;
}

std::uint64_t Formula::Bytes(const MiningGraph& graph, const MiningOptions& options) const {
  if (clique != 0) return CliqueBytes(graph, options, clique);
  return house ? HouseBytes(graph, options) : MotifBytes(graph, options, vertices());
}

std::string Formula::Explain() const {
  if (clique != 0) {
    return fmt::format(
        "  formula: cliques of {} at their lowest vertices, by a row of bits for each "
        "neighbour\n",
        clique);
  }
  if (house) return "  formula: houses from the triangles and 4-cycles at each edge\n";
  return fmt::format("  formula: {}s from degrees, triangles at edges and 4-cycles{}\n", motif,
                     induced == Induced::kVertex ? ", less what larger patterns contain" : "");
}

std::optional<Formula> FormulaFor(const Pattern& pattern, Induced induced) {
  const unsigned size = pattern.size();
  if (size >= 3 && pattern.edges() == size * (size - 1) / 2) return Formula{size, "", induced};
  if (induced == Induced::kEdge && IsHouse(pattern)) {
    return Formula{.clique = 0, .motif = "", .house = true};
  }
  std::string motif = MotifNamed(pattern);
  // A plan counts these two from the size of one set for each edge or vertex.
  const bool easy = motif == "diamond" || motif == "3-star";
  if (motif.empty() || (easy && induced == Induced::kEdge)) return std::nullopt;
  return Formula{0, std::move(motif), induced};
}

Result<std::uint64_t> CountByFormula(MiningJob& job, const Formula& formula) {
  if (formula.clique != 0) return CountCliques(job, formula.clique);
  if (formula.house) return CountHouses(job);
  SLIM_ASSIGN(const auto motifs, CountMotifs(job, formula.vertices(), formula.induced));
  const auto found = std::find_if(motifs.begin(), motifs.end(),
                                  [&](const MotifCount& one) { return one.name == formula.motif; });
  SLIM_CHECK(found != motifs.end(), "no motif is called {}", formula.motif);
  return found->count;
}

}  // namespace slimgraph::dkudu
