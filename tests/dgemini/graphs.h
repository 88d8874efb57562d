// Graphs of many shapes as .slim files, with their serial results.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "dgemini/programs.h"
#include "dgemini/serial.h"
#include "slimgraph/files/slim_file.h"
#include "tests/support/unwrap.h"

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
  std::vector<double> rank_from;  // personalised: from the first source
  std::vector<VertexId> component;
  std::vector<double> centrality;
  std::vector<std::uint64_t> labels;  // as original ids
  std::vector<std::uint32_t> cores;
  std::vector<std::uint8_t> members;  // of the independent set of kTestSeed
  bool simple = true;                 // without self-loops and duplicate edges, and undirected
};

constexpr std::uint64_t kTestIterations = 7;
constexpr std::uint64_t kTestSeed = 5;

// Loads a workload for the programs that ignore directions, and calls body(engine, ids) on compute
// nodes. Collective.
void IgnoringDirections(Cluster& cluster, const GraphSource& file, dgemini::WorkloadNeeds needs,
                        dgemini::Exchange& exchange, dgemini::Mode mode,
                        const std::function<void(dgemini::Engine&, const OriginalIds&)>& body);

// The labels as original ids.
std::vector<std::uint64_t> LabelIds(const dgemini::VertexArray<VertexId>& labels,
                                    const OriginalIds& ids);

// Makes graphs in `folder`: an empty one, one vertex, isolated vertices, self-loops, duplicates,
// stars, chains, both in turn, grids, kron, disconnected and random graphs; some are directed, some
// weighted.
std::vector<TestGraph> MakeTestGraphs(const std::string& folder, std::mt19937_64& random);

// The folder, seed and graphs that all tests of the process share.
struct GraphWorld {
  GraphWorld();
  ~GraphWorld();
  std::uint64_t seed = 0;
  std::string folder;
  std::vector<TestGraph> graphs;
};
const GraphWorld& TheWorld();

// Compares a program's values on node 0. Collective over compute nodes.
template <typename T, typename U>
void ExpectNear(dgemini::Engine& engine, dgemini::VertexArray<T> found,
                const std::vector<U>& expected, double relative, const std::string& what) {
  Unwrap(engine.Gather(found));
  if (!engine.first()) return;
  int wrong = 0;
  for (VertexId v = 0; v < expected.size() && wrong < 3; ++v) {
    const bool never = static_cast<double>(expected[v]) == INFINITY;
    const auto at = static_cast<double>(found[v]);
    const auto should =
        never ? static_cast<double>(dgemini::kUnreachable<T>) : static_cast<double>(expected[v]);
    if (at == should || std::abs(at - should) <= relative * std::abs(should)) continue;
    ADD_FAILURE() << what << ": vertex " << v << " has " << at << ", not " << should;
    ++wrong;
  }
}

// A weighted grid. Its frontiers have few edges, but are large enough for several threads.
TestGraph MakeLargeGrid(const std::string& folder, std::mt19937_64& random);

}  // namespace slimgraph::test
