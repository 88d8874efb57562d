// The last vertices of an order when no two of them are adjacent: they are counted at once instead
// of being listed. Each has a set of candidates, those with the same neighbours the same one. The
// ways to choose different vertices from the sets follow from the sizes of their intersections, by
// Möbius inversion over set partitions: the sum over all partitions of the suffix of the product
// over their blocks B of (-1)^(|B|-1) (|B|-1)! |intersection of the sets of B|.
#pragma once

#include <cstdint>
#include <vector>

#include "dkudu/plan/pattern.h"

namespace slimgraph {

// A set of classes of the suffix, as bits.
using ClassMask = std::uint16_t;

struct Suffix {
  struct Class {
    std::uint8_t level;  // the first vertex of the class
    std::uint8_t size;   // how many vertices have this set
  };
  // An intersection that is made from another one (or a set) and one more set.
  struct Meeting {
    ClassMask classes;
    bool listed;  // others are made from it
  };
  struct Term {
    std::int64_t factor;
    std::vector<ClassMask> blocks;
  };
  unsigned levels = 1;
  std::vector<Class> classes;
  // Of several classes alone: all that is below is empty where there is one.
  std::vector<Meeting> meetings;  // in an order in which they can be made
  std::vector<Term> terms;
  std::int64_t orders = 1;  // vertices of a class can be exchanged
};

// Of the levels from `first` on, whose neighbours are given.
Suffix MakeSuffix(unsigned first, const std::vector<PatternMask>& neighbours);

}  // namespace slimgraph
