// What the tests of D-Kudu share: random graphs, and a counter of subgraphs that knows nothing of
// plans: it tries every mapping of the pattern's vertices.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "dkudu/mining_job.h"
#include "dkudu/plan/matching_order.h"
#include "slimgraph/graph/csr.h"
#include "slimgraph/launch/job.h"

namespace slimgraph::test {

// Prints its seed; SLIMGRAPH_TEST_SEED takes it back.
std::mt19937_64 SeededRandom();

// The least, or some more than it.
std::uint64_t SomeChunkBytes(std::mt19937_64& random);

// A .slim file that goes with it.
class ScratchGraph {
 public:
  explicit ScratchGraph(const EdgeList& edges);
  ~ScratchGraph();
  ScratchGraph(const ScratchGraph&) = delete;
  ScratchGraph& operator=(const ScratchGraph&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

EdgeList EmptyGraph(VertexId vertices);
// Vertices draw their edges with different likeliness, so that degrees differ.
EdgeList RandomGraph(std::mt19937_64& random, VertexId vertices, double density);
EdgeList CompleteGraph(VertexId vertices);

// A random connected pattern.
Pattern RandomPattern(std::mt19937_64& random, unsigned vertices);

std::uint64_t BruteForceCount(const EdgeList& graph, const Pattern& pattern, Induced induced);

struct Shape {
  NodeId nodes;
  NodeId compute;
  std::uint32_t threads = 1;
  const char* transport = "shm";
};
std::string NameOf(const Shape& shape);

// Runs `body` on every node of a job with the graph loaded.
void OnMiningJob(const Shape& shape, const std::string& path, ListPart part,
                 const MiningOptions& options, const std::function<void(MiningJob&)>& body);

}  // namespace slimgraph::test
