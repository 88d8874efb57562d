// The figures of vertices and edges, and counts of patterns, by simple serial code over a whole
// graph. Results of the engine are verified against it.
#pragma once

#include <cstdint>
#include <vector>

#include "dkudu/local.h"
#include "dkudu/plan/matching_order.h"
#include "dkudu/plan/pattern.h"
#include "slimgraph/files/csr.h"

namespace slimgraph::dkudu::serial {

// By dense id. Self-loops and duplicate edges are ignored.
std::vector<LocalFigures> Local(const Csr& out_lists, bool directed);

// The trussness of each edge, at both of its ends: the i-th entry belongs to the i-th neighbour.
struct TrussLists {
  std::vector<std::vector<VertexId>> neighbours;  // by dense id, ascending
  std::vector<std::vector<std::uint32_t>> trussness;

  // Of the edge between a and b; 0 if there is none.
  std::uint32_t Find(VertexId a, VertexId b) const;
};
// Of an undirected graph, by removing edges in the order of their triangles. Self-loops and
// duplicate edges are ignored.
TrussLists Trussness(const Csr& lists);

// How many subgraphs are like the pattern, by trying all ways to map it. Self-loops and duplicate
// edges are ignored.
std::uint64_t CountMatches(const Csr& lists, const Pattern& pattern, Induced induced);

}  // namespace slimgraph::dkudu::serial
