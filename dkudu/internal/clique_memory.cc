#include "dkudu/internal/clique_memory.h"

#include <algorithm>

#include "dkudu/internal/graph/list_stream.h"
#include "dkudu/internal/kernel/bit_matrix.h"
#include "dkudu/internal/kernel/neighbour_lists.h"
#include "dkudu/internal/sharing/work_offers.h"

namespace slimgraph::dkudu {
namespace {

constexpr std::uint64_t kMinWindowBytes = 16 << 10;
constexpr std::uint64_t kMaxWindowBytes = 4 << 20;

// Every pass reads the lists of all nodes. The lists of a pass's roots, and their matrices, may
// each take a 64th of what all take, up to 1 MiB, even if there is less memory for them. So a small
// graph needs about 64 passes at most.
constexpr std::uint64_t kMostPasses = 64;
constexpr std::uint64_t kMaxLeastBytes = 1 << 20;

// An engine that takes offered roots fetches the lists they need in pieces of at most this size.
constexpr std::uint64_t kMostOfferedListBytes = 8 << 20;

}  // namespace

CliqueMemory CliqueMemoryOf(const MiningGraph& graph, std::uint64_t cache_bytes,
                            std::uint64_t chunk_bytes) {
  const bool has_delegated_roots = graph.root_homes().size() > 1;
  const std::uint64_t window_bytes =
      std::clamp(cache_bytes / (has_delegated_roots ? 16 : 2), kMinWindowBytes, kMaxWindowBytes);
  const std::uint64_t least_resident_bytes =
      has_delegated_roots ? std::min(kMaxLeastBytes, graph.remote_list_bytes() / kMostPasses) : 0;
  const std::uint64_t resident_bytes = cache_bytes - std::min(cache_bytes, 2 * window_bytes);
  // Each thread needs one matrix for roots that are complete within one window.
  const std::uint64_t of_one_root = BitMatrix::Bytes(graph.sums().most_above);
  const std::uint64_t matrix_bytes =
      graph.threads() * (chunk_bytes - std::min(chunk_bytes, of_one_root));
  const std::uint64_t least_matrix_bytes =
      std::min(kMaxLeastBytes, graph.sums().matrix_bytes / graph.compute() / kMostPasses);
  return {window_bytes, std::max(resident_bytes, least_resident_bytes),
          std::max(matrix_bytes, least_matrix_bytes)};
}

bool HasWaitingMatrices(const MiningGraph& graph, unsigned size, const CliqueMemory& memory) {
  return size > 3 &&
         !ListStream::IsOneWindow(graph, std::min(memory.window_bytes, memory.resident_bytes));
}

std::uint64_t ListBytes(const MiningGraph& graph, const CliqueMemory& memory, bool once) {
  std::uint64_t delegated_bytes = 0;
  std::uint64_t delegated_coded_bytes = 0;
  for (const NodeId home : graph.root_homes()) {
    if (home == graph.self()) continue;
    delegated_bytes += graph.index(home).arcs() * sizeof(VertexId);
    delegated_coded_bytes += graph.index(home).coded_bytes();
  }
  std::uint64_t window_bytes = graph.remote_list_bytes() + 2 * graph.remote_coded_bytes();
  if (once && delegated_bytes <= memory.resident_bytes) {
    window_bytes -= delegated_bytes + 2 * delegated_coded_bytes;
    window_bytes += std::min(kFetchPieceBytes, delegated_coded_bytes);
  }
  return std::min(delegated_bytes, memory.resident_bytes) +
         std::min(2 * memory.window_bytes, window_bytes);
}

std::uint64_t OfferedRootBytes(const MiningGraph& graph, std::uint64_t chunk_bytes) {
  return std::min(chunk_bytes, std::max(LeastKernelBytes(graph), kMostOfferedListBytes));
}

std::uint64_t PartBytes(const MiningGraph& graph, unsigned size) {
  if (size == 3) return kMostRootsBytes;
  return std::min(BitMatrix::Bytes(graph.sums().most_above), WorkOffers::kMostPartBytes);
}

}  // namespace slimgraph::dkudu
