// Counts cliques at roots, for one thread. A root is processed in several steps if the lists of its
// neighbours arrive in several windows.
#pragma once

#include <vector>

#include "dkudu/internal/kernel/bit_matrix.h"
#include "dkudu/internal/kernel/count.h"
#include "dkudu/internal/kernel/marks.h"
#include "dkudu/mining_graph.h"
#include "slimgraph/base/interleave.h"

namespace slimgraph::dkudu {

// A vertex with the neighbours above it; the first `joined` of them have been processed.
struct CliqueRoot {
  List list;
  std::uint32_t joined = 0;
  // For cliques larger than triangles: the root's matrix, from the first step to the last.
  std::uint64_t* matrix = nullptr;
};

class CliqueKernel {
 public:
  CliqueKernel(const Job& job, VertexId vertices, unsigned size)
      : job_(job), size_(size), marks_(vertices), positions_(size > 3 ? vertices : 0) {}

  // The memory of a kernel: marks, and for cliques larger than triangles also positions and a
  // matrix.
  static std::uint64_t Bytes(const MiningGraph& graph, unsigned size) {
    const std::uint64_t vertices = graph.vertices();
    if (size == 3) return vertices;
    return vertices * (1 + sizeof(std::uint32_t)) + BitMatrix::Bytes(graph.sums().most_above);
  }

  // Joins the root with its neighbours below `end`; list_of(v) returns the neighbours above v. A
  // matrix that is complete is counted here unless offer_matrix(neighbours, matrix) returns true.
  template <typename ListOf, typename OfferMatrix>
  void Join(CliqueRoot& root, VertexId end, const ListOf& list_of, const OfferMatrix& offer_matrix);

  void Count(const BitMatrix& matrix) { count_ += matrix.CountCliques(size_ - 1, job_); }

  WideCount count() const { return count_; }

 private:
  static constexpr std::uint64_t kElementsPerNs = 2;  // in simulations

  const Job& job_;
  unsigned size_;
  Marks marks_;
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint64_t> whole_;  // the matrix of a root that is joined in one step
  WideCount count_ = 0;
};

template <typename ListOf, typename OfferMatrix>
void CliqueKernel::Join(CliqueRoot& root, VertexId end, const ListOf& list_of,
                        const OfferMatrix& offer_matrix) {
  const List list = root.list;
  const std::size_t first = root.joined;
  if (first == list.size() || list[first] >= end) return;
  const std::size_t last =
      list.back() < end ? list.size() : list.size() - Above(list, end - 1).size();
  root.joined = static_cast<std::uint32_t>(last);
  if (size_ == 3) {
    const List marked = list.subspan(first + 1);
    SimulateWork(marked.size() / kElementsPerNs);
    if (last - first == 1) {
      const List above = list_of(list[first]);
      SimulateWork(above.size() / kElementsPerNs);
      count_ += Intersect(marked, above, nullptr);
      return;
    }
    marks_.Set(marked);
    std::uint64_t triangles = 0;
    for (std::size_t i = first; i < last; ++i) {
      const List above = list_of(list[i]);
      SimulateWork(above.size() / kElementsPerNs);
      triangles += marks_.Count(above);
    }
    marks_.Unset(marked);
    count_ += triangles;
    return;
  }
  const bool at_once = first == 0 && last == list.size();
  const std::size_t words = BitMatrix::Words(list.size());
  if (at_once && whole_.size() < words) whole_.assign(words, 0);
  BitMatrix matrix(list.size(), at_once ? whole_.data() : root.matrix);
  if (first == 0) matrix.Clear();
  for (std::size_t i = first; i < list.size(); ++i) {
    positions_[list[i]] = static_cast<std::uint32_t>(i) + 1;
  }
  for (std::size_t i = first; i < last; ++i) {
    matrix.FillRow(i, list_of(list[i]), positions_.data());
  }
  for (std::size_t i = first; i < list.size(); ++i) positions_[list[i]] = 0;
  if (last < list.size()) return;
  if (!offer_matrix(list.size(), matrix)) Count(matrix);
}

}  // namespace slimgraph::dkudu
