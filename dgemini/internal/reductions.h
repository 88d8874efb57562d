// The reductions that programs offer to memory nodes. A reduction is a pure function of an edge,
// Along(), and an associative combination of its results, Combine(). A memory node knows nothing
// else of the program.
//
//   Value         what a neighbour's value is; Short: an optional smaller form, as in a step
//   Result        what a list gives; a list of which no edge counts gives none
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

// Whether a neighbour is active: breadth-first search.
struct AnyActive {
  using Value = Nothing;
  using Result = Nothing;
  static constexpr bool kOfActive = true;
  static constexpr bool kOfAll = false;
  static constexpr bool kFinishesAll = false;
  static constexpr bool kOneSuffices = true;
  static Result Along(Value, const Neighbours&, std::size_t) { return {}; }
  static Result Combine(Result, Result) { return {}; }
};

// The sum of the values of all neighbours: PageRank.
template <typename T, typename Sum = T>
struct SumOfAll {
  using Value = T;
  using Result = Sum;
  static constexpr bool kOfActive = false;
  static constexpr bool kOfAll = true;
  static constexpr bool kFinishesAll = true;
  static constexpr bool kOneSuffices = false;
  static Result Along(Value value, const Neighbours&, std::size_t) { return Sum(value); }
  static Result Combine(Result a, Result b) { return a + b; }
};

// The sum of the values of active neighbours: numbers of paths.
template <typename T, bool kAlsoOfNone, typename ShortForm = T>
struct SumOfActive {
  using Value = T;
  using Short = ShortForm;
  using Result = T;
  static constexpr bool kOfActive = true;
  static constexpr bool kOfAll = false;
  static constexpr bool kFinishesAll = kAlsoOfNone;
  static constexpr bool kOneSuffices = false;
  static Result Along(Value value, const Neighbours&, std::size_t) { return value; }
  static Result Combine(Result a, Result b) { return a + b; }
};

// The shortest distance over an active neighbour.
template <typename Weight, typename Distance>
struct LeastDistance {
  using Value = Distance;
  using Result = Distance;
  static constexpr bool kOfActive = true;
  static constexpr bool kOfAll = true;
  static constexpr bool kFinishesAll = false;
  static constexpr bool kOneSuffices = false;
  static Result Along(Value so_far, const Neighbours& list, std::size_t i) {
    return so_far + static_cast<Distance>(list.weight<Weight>(i));
  }
  static Result Combine(Result a, Result b) { return std::min(a, b); }
};

}  // namespace slimgraph::dgemini
