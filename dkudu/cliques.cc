#include "dkudu/cliques.h"

#include <algorithm>

#include "dkudu/graph/held_lists.h"
#include "dkudu/held_cliques.h"
#include "dkudu/kernel/bit_matrix.h"
#include "dkudu/streamed_cliques.h"

namespace slimgraph {
namespace {

// Every node decides alike, for all take part. Without memory nodes, whose roots' lists are held
// in any case, windows that stay in the processor's caches are faster.
bool HoldsAll(const MiningGraph& graph, std::uint64_t bytes) {
  if (graph.compute() == graph.nodes() && graph.nodes() > 1) return false;
  std::uint64_t most = 0;
  for (NodeId node = 0; node < graph.compute(); ++node) {
    most = std::max(most, HeldLists::Bytes(graph, node));
  }
  return most <= bytes;
}

// For the matrices of the largest roots: of one for each thread, and, while lists stream, of one
// from each home.
std::uint64_t LeastBytes(const MiningGraph& graph, unsigned size, bool held) {
  if (size == 3) return 0;
  return BitMatrix::Bytes(graph.sums().most_above) * (held ? 1 : 1 + graph.nodes());
}

}  // namespace

Result<std::uint64_t> CountCliques(MiningJob& job, unsigned size) {
  const bool held = HoldsAll(job.graph, job.options.cache_bytes);
  SLIM_ASSIGN(const auto chunk_bytes, ChunkBytes(job, LeastBytes(job.graph, size, held)));
  SLIM_ASSIGN(const WideCount mine,
              held ? CountHeldCliques(job, size) : CountStreamedCliques(job, size, chunk_bytes));
  SLIM_ASSIGN(const WideCount all, SumOverNodes(job.cluster.all(), mine));
  return Narrow(all, "cliques");
}

}  // namespace slimgraph
