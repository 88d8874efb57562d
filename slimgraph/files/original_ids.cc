#include "slimgraph/files/original_ids.h"

#include <functional>
#include <numeric>

namespace slimgraph {

std::optional<OriginalIds> OriginalIds::InAnyOrder(std::vector<std::uint64_t> ids) {
  OriginalIds made(std::move(ids));
  const std::vector<std::uint64_t>& list = made.ids_;
  if (std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end()) {
    const bool contiguous = list.empty() || list.back() - list.front() + 1 == list.size();
    return contiguous ? OriginalIds(made.first(), made.count()) : made;
  }
  made.order_.resize(list.size());
  std::iota(made.order_.begin(), made.order_.end(), 0);
  std::sort(made.order_.begin(), made.order_.end(),
            [&](VertexId a, VertexId b) { return list[a] < list[b]; });
  for (VertexId i = 1; i < made.count_; ++i) {
    if (list[made.order_[i - 1]] == list[made.order_[i]]) return std::nullopt;
  }
  return made;
}

std::optional<VertexId> OriginalIds::Find(std::uint64_t id) const {
  if (ids_.empty()) {
    if (id < first_ || id - first_ >= count_) return std::nullopt;
    return static_cast<VertexId>(id - first_);
  }
  VertexId low = 0;
  for (VertexId high = count_; low < high;) {
    const VertexId middle = low + (high - low) / 2;
    if (ids_[InOrder(middle)] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == count_ || ids_[InOrder(low)] != id) return std::nullopt;
  return InOrder(low);
}

}  // namespace slimgraph
