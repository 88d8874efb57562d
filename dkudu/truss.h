// The trussness of each edge: the largest k such that the edge is in the k-truss, which is the
// largest subgraph in which every edge is in at least k - 2 triangles. Without triangles it is 2.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "dkudu/internal/sharing/arc_values.h"
#include "dkudu/mining_job.h"
#include "slimgraph/files/original_ids.h"

namespace slimgraph::dkudu {

class Trussness {
 public:
  // How many edges have trussness k, for k from 0 on; on every node.
  const std::vector<std::uint64_t>& edges_of() const { return edges_of_; }
  // The largest trussness; 0 without edges.
  std::uint32_t largest() const { return static_cast<std::uint32_t>(edges_of_.size() - 1); }
  // The edges of the k-truss.
  std::uint64_t EdgesOfTruss(std::uint32_t k) const;
  // How often all compute nodes have looked for edges to lower.
  std::uint64_t rounds() const { return rounds_; }

  // On node 0, on the thread of endpoint 0: calls visit(a, b, trussness) for every edge, by dense
  // ids. The original id of a is below that of b, and edges ascend by original ids. No other node
  // may have begun another function of the job and ended it, which all collective functions ensure.
  using Visit = std::function<Status(VertexId a, VertexId b, std::uint32_t trussness)>;
  Status ForEach(MiningJob& job, const OriginalIds& ids, const Visit& visit) const;

 private:
  friend Result<Trussness> ComputeTrussness(MiningJob& job);
  explicit Trussness(ArcValues values) : values_(std::move(values)) {}
  Status CountEdges(MiningJob& job);

  ArcValues values_;
  std::vector<std::uint64_t> edges_of_;
  std::uint64_t rounds_ = 0;
};

// Collective. The graph must be loaded with ListPart::kAll. Every node needs kTrussBytesPerArc for
// each entry of its lists.
Result<Trussness> ComputeTrussness(MiningJob& job);
constexpr std::uint64_t kTrussBytesPerArc = sizeof(ArcValues::Value);

// The most memory that ComputeTrussness and ForEach take on a compute node, besides the graph and
// the memory for each entry.
std::uint64_t TrussBytes(const MiningGraph& graph, const MiningOptions& options);

}  // namespace slimgraph::dkudu
