// The order in which a pattern's vertices are matched, and what each must satisfy against the
// earlier ones. It is chosen by an estimate of the work from the graph's degrees.
#pragma once

#include <vector>

#include "dkudu/plan/pattern.h"
#include "dkudu/plan/suffix.h"

namespace slimgraph::dkudu {

enum class Induced { kVertex, kEdge };

// The properties of the graph that the estimate uses.
struct GraphFigures {
  double vertices = 0;
  double mean_degree = 0;
  double end_degree = 0;  // the mean degree of the ends of edges
};

struct MatchingOrder {
  struct Level {
    PatternVertex vertex = 0;
    // Sets of earlier levels whose vertices relate to this level's vertex.
    PatternMask neighbours = 0;      // adjacent in the graph
    PatternMask non_neighbours = 0;  // not adjacent; only if vertex-induced
    PatternMask above = 0;           // of lower rank; breaks the pattern's symmetry
    double expected = 0;             // embeddings up to this level
  };
  std::vector<Level> levels;
  Suffix suffix;    // the levels that are counted without listing
  double work = 0;  // estimated list elements processed
};

// `list_all`: embeddings are listed, not counted, so only the last vertex is left to the suffix.
MatchingOrder ChooseOrder(const Pattern& pattern, Induced induced, const GraphFigures& graph,
                          bool list_all);

}  // namespace slimgraph::dkudu
