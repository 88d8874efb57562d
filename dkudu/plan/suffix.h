// The last vertices of an order, if no two of them are adjacent: they are counted at once instead
// of being listed. Each has a set of candidates; vertices with the same neighbours share a set. The
// number of ways to choose distinct vertices follows from the sizes of the sets' intersections, by
// Möbius inversion over set partitions: sum over all partitions of the suffix the product over
// their blocks B of (-1)^(|B|-1) (|B|-1)! |intersection of the sets of B|.
#pragma once

#include <cstdint>
#include <vector>

#include "dkudu/plan/pattern.h"

namespace slimgraph::dkudu {

// A set of the suffix's classes, as bits.
using ClassMask = std::uint16_t;

struct Suffix {
  struct Class {
    std::uint8_t level;  // of the first vertex of the class
    std::uint8_t size;   // how many vertices have this set
  };
  // The intersection of one more set with another intersection or set.
  struct Intersection {
    ClassMask classes;
    bool listed;  // written out, because others are made from it
  };
  struct Term {
    std::int64_t factor;
    std::vector<ClassMask> blocks;
  };
  unsigned levels = 1;
  std::vector<Class> classes;
  // The rest is empty if there is only one class.
  std::vector<Intersection> intersections;  // in an order in which each base precedes its users
  std::vector<Term> terms;
  std::int64_t orders = 1;  // the orders of vertices within their classes
};

// For the levels from `first` on; `neighbours` has the neighbours of each.
Suffix MakeSuffix(unsigned first, const std::vector<PatternMask>& neighbours);

}  // namespace slimgraph::dkudu
