// A small connected graph to search for: read from an edge list, or known by name.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph::dkudu {

constexpr unsigned kMaxPatternVertices = 8;

using PatternVertex = std::uint8_t;
using PatternMask = std::uint8_t;  // a set of vertices, or of levels of a plan
using Permutation = std::array<PatternVertex, kMaxPatternVertices>;

constexpr PatternMask Bit(unsigned i) { return static_cast<PatternMask>(1U << i); }
constexpr bool Has(PatternMask mask, unsigned i) { return (mask >> i & 1U) != 0; }
constexpr unsigned Highest(PatternMask mask) {
  return static_cast<unsigned>(std::bit_width(mask)) - 1;
}

class Pattern {
 public:
  using Edge = std::pair<std::uint64_t, std::uint64_t>;

  // Vertices are numbered in ascending order of the edges' ids. Returns an error unless the edges
  // form a connected graph of 2 .. 8 vertices without self-loops.
  static Result<Pattern> Make(const std::vector<Edge>& edges, std::string name);
  // Finds a pattern by name, or makes it from its edges, such as "0-1,1-2,2-0"; otherwise reads a
  // file with one edge per line.
  static Result<Pattern> Find(const std::string& name_or_file);
  // The name, if Find() knows it; otherwise the edges, as Find() takes them.
  std::string Spelled() const;
  static Result<Pattern> Clique(unsigned vertices);

  const std::string& name() const { return name_; }
  unsigned size() const { return static_cast<unsigned>(ids_.size()); }
  std::uint64_t id(unsigned v) const { return ids_[v]; }
  PatternMask neighbours(unsigned v) const { return neighbours_[v]; }
  bool adjacent(unsigned a, unsigned b) const { return Has(neighbours_[a], b); }
  unsigned edges() const;

  // All permutations of the vertices that map edges to edges.
  std::vector<Permutation> Automorphisms() const;

 private:
  bool connected() const;

  std::string name_;
  std::vector<std::uint64_t> ids_;
  std::array<PatternMask, kMaxPatternVertices> neighbours_ = {};
};

// "triangle, wedge, diamond, …": the names that Find knows, for messages and help.
std::string PatternNames();

}  // namespace slimgraph::dkudu
