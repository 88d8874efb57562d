// The reductions that programs offer to memory nodes. A reduction is a pure function of an edge,
// Along(), and an associative combination of its results, Combine(). A memory node knows nothing
// else of the program.
//
//   Value         what a neighbour's value is; Short: an optional smaller form, as in a step
//   Partial       what Along() and Combine() give; converted to Result at the end of a list
//   Result        what is sent; a list of which no edge counts gives none
//   kOfActive     only edges from active vertices count
//   kOfAll        all vertices want a result; otherwise those that their compute nodes name
//   kFinishesAll  Step::Finish is also called, with Result(), for vertices without a result
//   kOneSuffices  the first edge that counts gives the result
#pragma once

#include <algorithm>
#include <cstddef>

#include "dgemini/step.h"
#include "slimgraph/remote/neighbours.h"

namespace slimgraph::dgemini {

// Of connected components, which memory nodes join over all their lists at once: the root of each
// vertex in these lists that is no root itself (reduction_server.h).
struct JoinedComponents {
  using Result = VertexId;
};

// Whether a neighbour is active: breadth-first search.
struct AnyActive {
  using Value = Nothing;
  using Partial = Nothing;
  using Result = Nothing;
  static constexpr bool kOfActive = true;
  static constexpr bool kOfAll = false;
  static constexpr bool kFinishesAll = false;
  static constexpr bool kOneSuffices = true;
  static Partial Along(Value, const Neighbours&, std::size_t) { return {}; }
  static Partial Combine(Partial, Partial) { return {}; }
};

// The sum of the values of all neighbours, which is computed in doubles: PageRank.
template <typename T>
struct SumOfAll {
  using Value = T;
  using Partial = double;
  using Result = T;
  static constexpr bool kOfActive = false;
  static constexpr bool kOfAll = true;
  static constexpr bool kFinishesAll = true;
  static constexpr bool kOneSuffices = false;
  static Partial Along(Value value, const Neighbours&, std::size_t) { return value; }
  static Partial Combine(Partial a, Partial b) { return a + b; }
};

// The sum of the values of active neighbours: numbers of paths.
template <typename T, bool kAlsoOfNone, typename ShortForm = T>
struct SumOfActive {
  using Value = T;
  using Short = ShortForm;
  using Partial = T;
  using Result = T;
  static constexpr bool kOfActive = true;
  static constexpr bool kOfAll = false;
  static constexpr bool kFinishesAll = kAlsoOfNone;
  static constexpr bool kOneSuffices = false;
  static Partial Along(Value value, const Neighbours&, std::size_t) { return value; }
  static Partial Combine(Partial a, Partial b) { return a + b; }
};

// The shortest distance over an active neighbour.
template <typename Weight, typename Distance>
struct LeastDistance {
  using Value = Distance;
  using Partial = Distance;
  using Result = Distance;
  static constexpr bool kOfActive = true;
  static constexpr bool kOfAll = true;
  static constexpr bool kFinishesAll = false;
  static constexpr bool kOneSuffices = false;
  static Partial Along(Value so_far, const Neighbours& list, std::size_t i) {
    return so_far + static_cast<Distance>(list.weight<Weight>(i));
  }
  static Partial Combine(Partial a, Partial b) { return std::min(a, b); }
};

}  // namespace slimgraph::dgemini
