// Counting and visiting the matches of a pattern, on every node of a session: D-Kudu's functions
// are collective over all nodes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "dkudu/local.h"
#include "dkudu/match.h"
#include "dkudu/truss.h"
#include "slimgraph/session/internal/open_graph.h"

namespace slimgraph::internal {

struct MiningRequest {
  enum What : std::uint32_t { kCount, kVisit, kLocal, kTruss };

  ClusterRequest cluster;
  What what = kCount;
  dkudu::Induced induced = dkudu::Induced::kEdge;
  dkudu::MiningOptions options;
  // The pattern of kCount and kVisit. The row of a vertex has a bit for each neighbour.
  std::uint32_t vertices = 0;
  dkudu::PatternMask rows[dkudu::kMaxPatternVertices] = {};

  void SetPattern(const dkudu::Pattern& pattern);
  Result<dkudu::Pattern> MakePattern() const;
};

// What a node does with matches and figures; helper programs do nothing. Embeddings arrive by dense
// id, from several threads.
struct MiningSinks {
  std::function<Result<bool>(std::uint32_t thread, std::span<const VertexId> embedding)> embedding =
      {};
  dkudu::LocalCounts::Visit local = {};                 // on node 0
  std::function<void(std::uint64_t count)> edges = {};  // on node 0, before `edge`
  dkudu::Trussness::Visit edge = {};                    // on node 0
};

// A graph that is loaded for D-Kudu, in a cluster of its own, with the memory that its functions
// share. It serves any number of calls.
class MiningLists {
 public:
  // The memory that a call takes besides the graph.
  using WorkingMemoryOf =
      std::function<dkudu::WorkingMemory(const dkudu::MiningGraph&, const Cluster&)>;
  // Collective over all nodes. If it does not fit into memory, all nodes refuse, and nothing is
  // loaded.
  static Result<std::variant<std::unique_ptr<MiningLists>, Error>> Load(
      Job& job, const GraphSource& file, const ClusterRequest& request, dkudu::ListPart part,
      const WorkingMemoryOf& working, const dkudu::MiningOptions& options);
  // Collective over all nodes.
  Status Unload();

  // Whether these lists contain those of `part`.
  bool Contains(dkudu::ListPart part) const;
  // Collective over all nodes: whether another call finds the memory that it takes.
  Result<bool> HasRoomFor(const WorkingMemoryOf& working);
  dkudu::MiningJob& job() { return *job_; }

 private:
  MiningLists() = default;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<dkudu::MiningGraph> graph_;
  std::unique_ptr<dkudu::ListExchange> lists_;
  std::vector<StageSeconds> seconds_;
  std::optional<dkudu::MiningJob> job_;
};

struct Mined {
  Refusal refusal;
  std::uint64_t traffic_bytes = 0;  // of all nodes; on every node
  std::uint64_t matches = 0;        // on every node; 0 for kLocal and kTruss
};
// Collective over all nodes: loads the graph for D-Kudu, unless it is loaded, and mines it.
Result<Mined> Mine(Job& job, OpenGraphs& graphs, std::uint64_t graph, const MiningRequest& request,
                   const MiningSinks& sinks);

// On the other nodes that node 0 has started, which have no use for matches and figures.
Status MineForNode0(Job& job, OpenGraphs& graphs, const Call& call);

}  // namespace slimgraph::internal
