#include "dkudu/internal/kernel/corner_kernel.h"

#include <atomic>

namespace slimgraph::dkudu {

template <ListPart kPart>
Status CornerKernel<kPart>::Run(const RootTask& task) {
  return walk_.Run(task, [&](const auto& piece, auto list_of) {
    if (piece.first == piece.last) return;
    if constexpr (kPart == ListPart::kArcs) {
      marks_.SetArcs(piece.list);
    } else {
      marks_.Set(piece.list);
    }
    std::uint64_t of_root = 0;
    for (std::size_t i = piece.first; i < piece.last; ++i) {
      const Arcs arcs = CountIn(marks_, list_of(i));
      of_root += arcs.of_root;
      Add(piece.neighbour(i), arcs.of_neighbour);
    }
    Add(piece.root, of_root);
    if constexpr (kPart == ListPart::kArcs) {
      marks_.UnsetArcs(piece.list);
    } else {
      marks_.Unset(piece.list);
    }
  });
}

template <ListPart kPart>
typename CornerKernel<kPart>::Arcs CornerKernel<kPart>::CountIn(const Marks& marks, List list) {
  if constexpr (kPart == ListPart::kArcs) {
    const auto [with_both, marked_arcs] = marks.CountArcs(list);
    return {with_both, marked_arcs};
  } else {
    const std::uint64_t triangles = marks.Count(list);
    return {triangles, triangles};
  }
}

template <ListPart kPart>
void CornerKernel<kPart>::Add(VertexId v, std::uint64_t arcs) {
  if (arcs == 0) return;
  std::atomic_ref(arcs_at_[graph_.dense(v)]).fetch_add(arcs, std::memory_order_relaxed);
}

template class CornerKernel<ListPart::kAll>;
template class CornerKernel<ListPart::kArcs>;

}  // namespace slimgraph::dkudu
