#include "txnlayer/graph_model/dense_id_map.h"

namespace slimgraph::txn {

DenseIdMap::DenseIdMap(OriginalIds first) : first_(std::move(first)) {
  if (first_.contiguous() || !first_.ascending()) return;
  learned_ = std::make_shared<const LearnedSearch>(first_.list());
}

std::optional<VertexId> DenseIdMap::FindFirst(VertexName name) const {
  if (learned_ == nullptr) return first_.Find(name);
  const std::vector<VertexName>& names = first_.list();
  if (name < names.front()) return std::nullopt;
  const std::size_t at = learned_->Find(names, name);
  if (names[at] != name) return std::nullopt;
  return static_cast<VertexId>(at);
}

std::optional<VertexId> DenseIdMap::Find(VertexName name) const {
  if (const auto dense = FindFirst(name)) return dense;
  const auto at =
      std::lower_bound(order_.begin(), order_.end(), name,
                       [this](VertexId dense, VertexName n) { return (*this)[dense] < n; });
  if (at == order_.end() || (*this)[*at] != name) return std::nullopt;
  return *at;
}

VertexName DenseIdMap::largest() const {
  const VertexName late = order_.empty() ? 0 : (*this)[order_.back()];
  return first_.count() == 0 ? late : std::max(late, first_[first_.count() - 1]);
}

std::size_t DenseIdMap::LowerBound(std::span<const VertexId> list, VertexName name) const {
  const auto by_name = [this](VertexId dense, VertexName n) { return (*this)[dense] < n; };
  const auto at = contiguous() ? std::lower_bound(list.begin(), list.end(),
                                                  name - std::min(name, first_.first()))
                               : std::lower_bound(list.begin(), list.end(), name, by_name);
  return static_cast<std::size_t>(at - list.begin());
}

DenseIdMap DenseIdMap::With(std::span<const VertexName> names) const {
  if (names.empty()) return *this;
  const auto all = count() + static_cast<VertexId>(names.size());
  if (ascending() && (count() == 0 || names.front() > largest())) {
    const VertexName first = count() == 0 ? names.front() : first_.first();
    const bool follow = names.back() == names.front() + names.size() - 1;
    if (follow && contiguous() && (count() == 0 || names.front() == largest() + 1)) {
      return DenseIdMap(OriginalIds(first, all));
    }
    std::vector<VertexName> list;
    list.reserve(all);
    for (VertexId dense = 0; dense < count(); ++dense) list.push_back(first_[dense]);
    list.insert(list.end(), names.begin(), names.end());
    return DenseIdMap(OriginalIds(std::move(list)));
  }
  DenseIdMap next = *this;
  next.late_.insert(next.late_.end(), names.begin(), names.end());
  for (VertexId dense = count(); dense < all; ++dense) next.order_.push_back(dense);
  const auto before = [&next](VertexId one, VertexId other) { return next[one] < next[other]; };
  std::inplace_merge(next.order_.begin(),
                     next.order_.begin() + static_cast<std::ptrdiff_t>(order_.size()),
                     next.order_.end(), before);
  return next;
}

}  // namespace slimgraph::txn
