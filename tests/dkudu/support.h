// Shared by the tests of D-Kudu: random graphs, and a counter of subgraphs that is independent of
// plans. The counter tries every mapping of the pattern's vertices.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "dkudu/mining_job.h"
#include "dkudu/plan/matching_order.h"
#include "slimgraph/files/csr.h"
#include "slimgraph/launch/job.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {

// Either 0, for the least that suffices, or a random amount above it.
std::uint64_t SomeChunkBytes(std::mt19937_64& random);

// A .slim file that exists as long as this object.
class ScratchGraph {
 public:
  enum Lists { kPlain, kCoded };  // kCoded: also those of dkudu/ranked_lists.h
  explicit ScratchGraph(const EdgeList& edges, Lists lists = kPlain);
  ~ScratchGraph();
  ScratchGraph(const ScratchGraph&) = delete;
  ScratchGraph& operator=(const ScratchGraph&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

EdgeList EmptyGraph(VertexId vertices);
// Vertices have random edge probabilities, so degrees differ.
EdgeList RandomGraph(std::mt19937_64& random, VertexId vertices, double density);
// A third of the edges lead both ways.
EdgeList RandomDirectedGraph(std::mt19937_64& random, VertexId vertices, double density);
EdgeList CompleteGraph(VertexId vertices);

// The lists of an undirected graph by rank, as a serial program makes them. Without self-loops and
// duplicates, which count for the degree, though.
std::vector<std::vector<VertexId>> ListsByRank(const EdgeList& edges);
// Whether the node has its lists, decoded and coded, and knows the lengths of all.
void ExpectLists(const dkudu::MiningGraph& graph, const std::vector<std::vector<VertexId>>& by_rank,
                 const std::string& where);

// A random connected pattern.
dkudu::Pattern RandomPattern(std::mt19937_64& random, unsigned vertices);

std::uint64_t BruteForceCount(const EdgeList& graph, const dkudu::Pattern& pattern,
                              dkudu::Induced induced);

struct Shape {
  NodeId nodes;
  NodeId compute;
  std::uint32_t threads = 1;
  const char* transport = "shm";
  bool standing = false;  // the memory nodes have made their lists before, like those of a pool
  bool in_place = true;   // over shm, standing lists are used where they are
};
std::string NameOf(const Shape& shape);

// A random shape of which memory nodes have all lists.
Shape RandomStandingShape(std::mt19937_64& random);

// Called by every node: runs `body` once the graph is loaded. Throws an error as an exception.
void MineOn(Cluster& cluster, const std::string& path, dkudu::ListPart part,
            const dkudu::MiningOptions& options,
            const std::function<void(dkudu::MiningJob&)>& body);
// Runs `body` on every node of a job that has loaded the graph.
void OnMiningJob(const Shape& shape, const std::string& path, dkudu::ListPart part,
                 const dkudu::MiningOptions& options,
                 const std::function<void(dkudu::MiningJob&)>& body);

}  // namespace slimgraph::test
