// Roots of triangles that one engine offers to another: for each, the neighbours that are not
// joined yet. The engine that takes them fetches the neighbours' lists.
#pragma once

#include <span>
#include <vector>

#include "dkudu/internal/kernel/clique_kernel.h"
#include "dkudu/internal/kernel/neighbour_lists.h"

namespace slimgraph::dkudu {

// Packs roots from the front of the span into `words`, at most `most_bytes`. Returns how many roots
// are packed or need no more work.
std::size_t PackRoots(std::span<const CliqueRoot> roots, std::uint64_t most_bytes,
                      std::vector<std::uint64_t>& words);

class OfferedRoots {
 public:
  // `bytes` must be at least LeastKernelBytes().
  OfferedRoots(const MiningGraph& graph, ListFetch& fetch, std::uint64_t bytes)
      : graph_(graph), neighbours_(graph, fetch, nullptr, Reuse::kChunk, bytes) {}

  // Counts the triangles of roots that PackRoots() has packed.
  Status Count(std::span<const std::uint64_t> words, CliqueKernel& kernel);

 private:
  Status FetchAndJoin(CliqueKernel& kernel);

  // Neighbours [first, last) of a root; more pieces of the same root may follow.
  struct Piece {
    List list;
    std::size_t first;
    std::size_t last;
  };
  const MiningGraph& graph_;
  NeighbourLists neighbours_;  // of the pieces in order
  std::vector<VertexId> entries_;
  std::vector<Piece> pieces_;
};

}  // namespace slimgraph::dkudu
