// In which order a pattern's vertices are matched, and what each must satisfy against the ones
// before it. Chosen by an estimate of the work from the graph's degrees.
#pragma once

#include <vector>

#include "dkudu/plan/pattern.h"
#include "dkudu/plan/suffix.h"

namespace slimgraph {

enum class Induced { kVertex, kEdge };

// What the estimate knows of the graph.
struct GraphFigures {
  double vertices = 0;
  double mean_degree = 0;
  double end_degree = 0;  // the mean degree of the ends of edges
};

struct MatchingOrder {
  struct Level {
    PatternVertex vertex = 0;
    // Sets of earlier levels.
    PatternMask neighbours = 0;  // adjacent in the graph
    PatternMask strangers = 0;   // not adjacent: vertex-induced alone
    PatternMask above = 0;       // its place is higher: what breaks the pattern's symmetry
    double expected = 0;         // embeddings up to this level
  };
  std::vector<Level> levels;
  Suffix suffix;    // the levels that are counted at once
  double work = 0;  // list elements looked at
};

// `list_all`: embeddings are wanted and not their number, so that no vertex is left to a suffix.
MatchingOrder ChooseOrder(const Pattern& pattern, Induced induced, const GraphFigures& graph,
                          bool list_all);

}  // namespace slimgraph
