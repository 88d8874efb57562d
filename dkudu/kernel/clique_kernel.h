// One thread's counting of cliques at roots, in as many steps as their neighbours' lists come in.
#pragma once

#include <vector>

#include "dkudu/kernel/bit_matrix.h"
#include "dkudu/kernel/count.h"
#include "dkudu/kernel/marks.h"

namespace slimgraph {

// A vertex with the neighbours above it, of which the first `joined` have been seen to.
struct CliqueRoot {
  List list;
  std::uint32_t joined = 0;
  BitMatrix matrix;  // of cliques larger than triangles, from the first step to the last
};

class CliqueKernel {
 public:
  CliqueKernel(VertexId vertices, unsigned size)
      : size_(size), marks_(vertices), positions_(size > 3 ? vertices : 0) {}

  // Sees to the root's neighbours below `end`; list_of(v) gives the neighbours above each. A matrix
  // that is complete is counted here if pass_on(neighbours, matrix) does not want it.
  template <typename ListOf, typename PassOn>
  void Join(CliqueRoot& root, VertexId end, const ListOf& list_of, const PassOn& pass_on);

  void Count(const BitMatrix& matrix) { count_ += matrix.CountCliques(size_ - 1); }

  WideCount count() const { return count_; }

 private:
  unsigned size_;
  Marks marks_;
  std::vector<std::uint32_t> positions_;
  BitMatrix whole_;  // of roots that are seen to in one step
  WideCount count_ = 0;
};

template <typename ListOf, typename PassOn>
void CliqueKernel::Join(CliqueRoot& root, VertexId end, const ListOf& list_of,
                        const PassOn& pass_on) {
  const List list = root.list;
  const std::size_t first = root.joined;
  if (first == list.size() || list[first] >= end) return;
  const std::size_t last =
      list.back() < end ? list.size() : list.size() - Above(list, end - 1).size();
  root.joined = static_cast<std::uint32_t>(last);
  if (size_ == 3) {
    const List marked = list.subspan(first + 1);
    if (last - first == 1) {
      count_ += Intersect(marked, list_of(list[first]), nullptr);
      return;
    }
    marks_.Set(marked);
    std::uint64_t triangles = 0;
    for (std::size_t i = first; i < last; ++i) triangles += marks_.Count(list_of(list[i]));
    marks_.Unset(marked);
    count_ += triangles;
    return;
  }
  const bool at_once = first == 0 && last == list.size();
  BitMatrix& matrix = at_once ? whole_ : root.matrix;
  if (first == 0) matrix.Reset(list.size());
  for (std::size_t i = first; i < list.size(); ++i) {
    positions_[list[i]] = static_cast<std::uint32_t>(i) + 1;
  }
  for (std::size_t i = first; i < last; ++i) {
    matrix.FillRow(i, list_of(list[i]), positions_.data());
  }
  for (std::size_t i = first; i < list.size(); ++i) positions_[list[i]] = 0;
  if (last < list.size()) return;
  if (!pass_on(list.size(), matrix)) Count(matrix);
  if (!at_once) matrix.Free();
}

}  // namespace slimgraph
