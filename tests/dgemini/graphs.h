// Graphs of many shapes as .slim files, with their serial results.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "dgemini/serial.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph::test {

struct TestGraph {
  std::string name;
  std::string path;
  bool weighted = false;
  std::vector<VertexId> sources;  // empty if there are no vertices
  // Results of the serial code.
  std::vector<std::uint32_t> depth;
  std::vector<double> distance;
  std::vector<double> rank;
  std::vector<VertexId> component;
  std::vector<double> centrality;
};

constexpr std::uint64_t kTestIterations = 7;

// Makes graphs in `folder`: an empty one, one vertex, isolated vertices, self-loops, duplicates,
// stars, chains, grids, kron, disconnected and random graphs; some are directed, some weighted.
std::vector<TestGraph> MakeTestGraphs(const std::string& folder, std::mt19937_64& random);

// A weighted grid. Its frontiers have few edges, but are large enough for several threads.
TestGraph MakeLargeGrid(const std::string& folder, std::mt19937_64& random);

}  // namespace slimgraph::test
