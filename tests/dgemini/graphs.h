// Graphs of all shapes in .slim files, with what serial codes say of them.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "dgemini/serial.h"
#include "slimgraph/graph/slim_file.h"

namespace slimgraph::test {

struct TestGraph {
  std::string name;
  std::string path;
  bool weighted = false;
  std::vector<VertexId> sources;  // empty if there are no vertices
  // By serial codes.
  std::vector<std::uint32_t> depth;
  std::vector<double> distance;
  std::vector<double> rank;
  std::vector<VertexId> component;
  std::vector<double> centrality;
};

constexpr std::uint64_t kTestIterations = 7;

// In `folder`: empty, one vertex, isolated vertices, self-loops, duplicates, stars, chains, grids,
// kron, disconnected and random ones, some of them directed, some weighted.
std::vector<TestGraph> MakeTestGraphs(const std::string& folder, std::mt19937_64& random);

// A weighted grid with frontiers that several threads share, and few edges in each.
TestGraph MakeLargeGrid(const std::string& folder, std::mt19937_64& random);

}  // namespace slimgraph::test
