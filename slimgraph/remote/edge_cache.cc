#include "slimgraph/remote/edge_cache.h"

#include "slimgraph/remote/list_code.h"

namespace slimgraph {

Result<std::unique_ptr<CacheBudget>> CacheBudget::Make(std::uint64_t bytes,
                                                       std::uint64_t coded_bytes) {
  const std::uint64_t for_coded = std::min(bytes, coded_bytes);
  // It is filled from its beginning on, so at most a part of one huge page is touched in vain.
  SLIM_ASSIGN(auto coded, PageBuffer::Allocate(for_coded, PageBuffer::Pages::kHuge));
  return std::unique_ptr<CacheBudget>(
      new CacheBudget(for_coded, bytes - for_coded, std::move(coded)));
}

Result<EdgeCache> EdgeCache::Make(VertexId groups, EdgeOffset arcs, std::size_t weight_bytes,
                                  CacheBudget& budget, bool whole, bool may_code) {
  EdgeCache cache(budget, groups, weight_bytes, whole, may_code && budget.codes());
  if (arcs == 0) return cache;
  // A partly filled cache uses small pages, because only pages with cached lists take memory.
  const auto pages = whole ? PageBuffer::Pages::kHuge : PageBuffer::Pages::kSmall;
  SLIM_ASSIGN(cache.ids_, PageBuffer::Allocate(arcs * sizeof(VertexId), pages));
  if (weight_bytes > 0) {
    SLIM_ASSIGN(cache.weights_, PageBuffer::Allocate(arcs * weight_bytes, pages));
  }
  return cache;
}

std::uint64_t EdgeCache::CodedBytes(VertexId groups, EdgeOffset arcs, std::size_t weight_bytes,
                                    std::uint64_t coded_bytes) {
  return coded_bytes + arcs * weight_bytes + groups * std::uint64_t{ListCode::kSlackBytes};
}

EdgeCache::Form EdgeCache::Claim(VertexId group, EdgeOffset arcs, std::uint64_t coded_bytes) {
  auto absent = static_cast<std::uint8_t>(Form::kAbsent);
  if (!states_[group].compare_exchange_strong(absent, static_cast<std::uint8_t>(Form::kLoading))) {
    return Form::kAbsent;
  }
  const std::uint64_t decoded = arcs * (sizeof(VertexId) + weight_bytes_);
  // With the slack, decoding a group's last list does not read what another thread writes.
  const std::uint64_t coded =
      codes_ ? CodedBytes(/*groups=*/1, arcs, weight_bytes_, coded_bytes) : 0;
  if (budget_->TryReserveDecoded(decoded, coded)) return Form::kDecoded;
  if (std::byte* const place = coded > 0 ? budget_->TryTakeCoded(coded) : nullptr) {
    places_[group] = place;
    return Form::kCoded;
  }
  Publish(group, Form::kAbsent);
  return Form::kAbsent;
}

}  // namespace slimgraph
