// Roots of triangles that pass from one engine to another: the neighbours that have not been seen
// to. Who takes them brings the neighbours' lists.
#pragma once

#include <span>
#include <vector>

#include "dkudu/kernel/clique_kernel.h"
#include "dkudu/kernel/neighbour_lists.h"

namespace slimgraph {

// Puts the first of them, as many as go into `most_bytes`, into words, and tells how many.
std::size_t PackRoots(std::span<const CliqueRoot> roots, std::uint64_t most_bytes,
                      std::vector<std::uint64_t>& words);

class PassedRoots {
 public:
  // `bytes` is at least LeastKernelBytes().
  PassedRoots(const MiningGraph& graph, ListFetch& fetch, std::uint64_t bytes)
      : graph_(graph), neighbours_(graph, fetch, nullptr, Reuse::kChunk, bytes) {}

  // Counts the triangles of what PackRoots() has put together.
  Status Count(std::span<const std::uint64_t> words, CliqueKernel& kernel);

 private:
  Status BringAndJoin(CliqueKernel& kernel);

  // Neighbours [first, last) of a root, of which others may follow.
  struct Piece {
    List list;
    std::size_t first;
    std::size_t last;
  };
  const MiningGraph& graph_;
  NeighbourLists neighbours_;  // of the pieces, one after the other
  std::vector<VertexId> entries_;
  std::vector<Piece> pieces_;
};

}  // namespace slimgraph
