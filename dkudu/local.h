// The triangles at each vertex, and its local clustering coefficient.
#pragma once

#include <functional>
#include <utility>

#include "dkudu/mining_job.h"
#include "slimgraph/files/original_ids.h"

namespace slimgraph::dkudu {

struct LocalFigures {
  std::uint64_t degree = 0;  // the number of neighbours, in any direction
  std::uint64_t arcs = 0;    // among these neighbours; an undirected edge is two arcs

  // Of an undirected graph.
  std::uint64_t triangles() const { return arcs / 2; }
  // The share of the ordered pairs of neighbours that an arc joins; 0 if there are no pairs. It is
  // LDBC Graphalytics' local clustering coefficient.
  double clustering() const {
    if (degree < 2) return 0;
    const auto d = static_cast<double>(degree);
    return static_cast<double>(arcs) / (d * (d - 1));
  }
  friend bool operator==(const LocalFigures&, const LocalFigures&) = default;
};

// The figures of all vertices, on node 0. The job must outlive it.
class LocalCounts {
 public:
  // Calls visit(dense id, figures) for every vertex, in ascending order of original ids.
  using Visit = std::function<Status(VertexId, const LocalFigures&)>;
  Status ForEach(const OriginalIds& ids, const Visit& visit) const;

 private:
  friend Result<LocalCounts> CountLocal(MiningJob& job);
  LocalCounts(const MiningGraph& graph, JobRegions::Lease arcs)
      : graph_(&graph), arcs_(std::move(arcs)) {}

  const MiningGraph* graph_;
  JobRegions::Lease arcs_;  // by dense id
};

// Collective. The graph must be loaded with ListPart::kAll or kArcs. Compute nodes need 8 bytes for
// each vertex of the graph.
Result<LocalCounts> CountLocal(MiningJob& job);

// The most memory that CountLocal and ForEach take on a compute node, besides the graph.
std::uint64_t LocalBytes(const MiningGraph& graph, const MiningOptions& options);

}  // namespace slimgraph::dkudu
